#include "report/table.h"

#include <algorithm>

#include "base/check.h"
#include "base/suggest.h"
#include "report/text.h"

namespace margin::report {
namespace {

void mark(std::span<Cell*> cells, Best which) {
  std::optional<double> best;
  for (const Cell* cell : cells) {
    const Estimate* estimate = cell->estimate();
    if (estimate == nullptr) continue;
    const bool better = !best || (which == Best::kLowest ? estimate->value < *best : estimate->value > *best);
    if (better) best = estimate->value;
  }
  for (Cell* cell : cells) cell->best = best && cell->estimate() != nullptr && cell->estimate()->value == *best;
}

std::string number_text(double value, const Column& column) {
  switch (column.kind) {
    case Kind::kCount: return column.digits ? fixed(value, *column.digits) : with_commas(value);
    case Kind::kPercent: return fixed(100.0 * value, column.digits.value_or(2));
    default: return fixed(value, column.digits.value_or(3));
  }
}

std::string render_one(const Table& table, Format format, const TextStyle& style) {
  switch (format) {
    case Format::kText: return to_text(table, style);
    case Format::kCsv: return to_csv(table);
    case Format::kMarkdown: return to_markdown(table);
    case Format::kLatex: return to_latex(table);
    case Format::kJson: return to_json(table);
  }
  return "";
}

}  // namespace

Cell::Cell(const Estimate& estimate) {
  if (const auto known = finite(estimate)) content = *known;
}

Cell::Cell(const std::optional<double>& value) {
  if (!value) return;
  if (const auto known = finite(Estimate{*value, {}})) content = *known;
}

void mark_best_in_column(Table& table, std::size_t column, Best which) {
  std::vector<Cell*> cells;
  for (auto& row : table.rows) cells.push_back(&row.at(column));
  mark(cells, which);
}

void mark_best_in_row(Table& table, std::size_t row, Best which, std::size_t first_column) {
  std::vector<Cell*> cells;
  for (std::size_t i = first_column; i < table.rows.at(row).size(); ++i) cells.push_back(&table.rows[row][i]);
  mark(cells, which);
}

std::string cell_text(const Cell& cell, const Column& column) {
  if (const std::string* text = cell.text()) return *text;
  const Estimate* estimate = cell.estimate();
  if (estimate == nullptr) return "-";
  std::string text = number_text(estimate->value, column);
  if (column.kind == Kind::kPercent) text += '%';
  if (const auto& interval = estimate->interval) {
    text += " [" + number_text(interval->low, column) + ", " + number_text(interval->high, column) + "]";
  }
  return text;
}

bool stands_right(const Column& column) {
  return column.alignment == Alignment::kRight || (column.alignment == Alignment::kByKind && column.kind != Kind::kText);
}

Result<Format> parse_format(std::string_view name) {
  static const std::vector<std::string> kNames = {"text", "csv", "markdown", "latex", "json"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) return static_cast<Format>(found - kNames.begin());
  return Error{ErrorCode::kInvalidArgument, "format: unknown '" + shortened(name, 40) + "'" + internal::suggestion(name, kNames)};
}

std::string render(std::span<const Table> tables, Format format, const TextStyle& style) {
  const bool json = format == Format::kJson;
  std::string out = json ? "[" : "";
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (i > 0) out += json ? "," : "\n";
    std::string one = render_one(tables[i], format, style);
    if (json) one.pop_back();
    out += one;
  }
  return json ? out + "]\n" : out;
}

}  // namespace margin::report
