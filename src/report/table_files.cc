// Tables for programs and documents: CSV, Markdown, LaTeX, JSON.
#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "report/table.h"
#include "report/text.h"

namespace margin::report {
namespace {

using internal::json_number;
using internal::json_string;

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kText: return "text";
    case Kind::kNumber: return "number";
    case Kind::kPercent: return "fraction";
    case Kind::kCount: return "count";
  }
  return "";
}

bool has_intervals(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
    return row.at(column).estimate() != nullptr && row[column].estimate()->interval.has_value();
  });
}

void check_shape(const Table& table) {
  for (const auto& row : table.rows) MARGIN_CHECK(row.size() == table.columns.size(), "a row has one cell per column");
}

std::string csv_cell(const Cell& cell) {
  if (const std::string* text = cell.text()) return csv_field(*text);
  return cell.estimate() != nullptr ? json_number(cell.estimate()->value) : "";
}

std::string csv_interval(const Cell& cell) {
  const Estimate* estimate = cell.estimate();
  if (estimate == nullptr || !estimate->interval) return ",,";
  return "," + json_number(estimate->interval->low) + "," + json_number(estimate->interval->high);
}

std::string json_cell(const Cell& cell) {
  if (const std::string* text = cell.text()) return json_string(*text);
  const Estimate* estimate = cell.estimate();
  if (estimate == nullptr) return "null";
  if (!estimate->interval) return json_number(estimate->value);
  return "{\"value\":" + json_number(estimate->value) + ",\"low\":" + json_number(estimate->interval->low) +
         ",\"high\":" + json_number(estimate->interval->high) + "}";
}

// Each of `items` by `part`, with `separator` between them.
template <class Items, class Part>
std::string joined(const Items& items, std::string_view separator, Part part) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += separator;
    out += part(items[i], i);
  }
  return out;
}

bool centred(const Column& column) { return column.alignment == Alignment::kCentre; }

}  // namespace

std::string to_csv(const Table& table) {
  check_shape(table);
  std::vector<bool> intervals;
  for (std::size_t i = 0; i < table.columns.size(); ++i) intervals.push_back(has_intervals(table, i));
  std::string out = joined(table.columns, ",", [&](const Column& column, std::size_t i) {
    const std::string& name = column.name;
    return csv_field(name) + (intervals[i] ? "," + csv_field(name + "_low") + "," + csv_field(name + "_high") : "");
  });
  out += "\r\n";
  for (const auto& row : table.rows) {
    out += joined(row, ",", [&](const Cell& cell, std::size_t i) { return csv_cell(cell) + (intervals[i] ? csv_interval(cell) : ""); });
    out += "\r\n";
  }
  return out;
}

std::string to_markdown(const Table& table) {
  check_shape(table);
  std::string out = table.title.empty() ? "" : "**" + escape_markdown(table.title) + "**\n\n";
  out += "| " + joined(table.columns, " | ", [](const Column& column, std::size_t) { return escape_markdown(column.name); }) + " |\n";
  out += "|" +
         joined(table.columns, "|",
                [](const Column& column, std::size_t) {
                  return std::string(centred(column) ? ":---:" : stands_right(column) ? "---:" : "---");
                }) +
         "|\n";
  for (const auto& row : table.rows) {
    out += "| " +
           joined(row, " | ",
                  [&](const Cell& cell, std::size_t i) {
                    const std::string text = escape_markdown(cell_text(cell, table.columns[i]));
                    return cell.best ? "**" + text + "**" : text;
                  }) +
           " |\n";
  }
  for (const std::string& note : table.notes) out += "\n" + escape_markdown(note) + "\n";
  return out;
}

std::string to_latex(const Table& table) {
  check_shape(table);
  std::string out = "\\begin{table}\n\\centering\n";
  if (!table.title.empty()) out += "\\caption{" + escape_latex(table.title) + "}\n";
  out += "\\begin{tabular}{" +
         joined(table.columns, "",
                [](const Column& column, std::size_t) {
                  return std::string(centred(column) ? "c" : stands_right(column) ? "r" : "l");
                }) +
         "}\n\\toprule\n";
  out += joined(table.columns, " & ", [](const Column& column, std::size_t) { return escape_latex(column.name); });
  out += " \\\\\n\\midrule\n";
  for (const auto& row : table.rows) {
    out += joined(row, " & ", [&](const Cell& cell, std::size_t i) {
      const std::string text = escape_latex(cell_text(cell, table.columns[i]));
      return cell.best ? "\\textbf{" + text + "}" : text;
    });
    out += " \\\\\n";
  }
  out += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& note : table.notes) out += "\n\\smallskip\n{\\footnotesize " + escape_latex(note) + "}\n";
  return out + "\\end{table}\n";
}

std::string to_json(const Table& table) {
  check_shape(table);
  const auto text = [](const std::string& note, std::size_t) { return json_string(note); };
  const auto column = [](const Column& each, std::size_t) {
    return "{\"name\":" + json_string(each.name) + ",\"kind\":\"" + std::string(kind_name(each.kind)) + "\"}";
  };
  const auto cell = [](const Cell& each, std::size_t) { return json_cell(each); };
  const auto row = [&](const std::vector<Cell>& cells, std::size_t) { return "[" + joined(cells, ",", cell) + "]"; };
  return "{\"title\":" + json_string(table.title) + ",\"columns\":[" + joined(table.columns, ",", column) + "],\"rows\":[" +
         joined(table.rows, ",", row) + "],\"notes\":[" + joined(table.notes, ",", text) + "]}\n";
}

}  // namespace margin::report
