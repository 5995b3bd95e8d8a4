// Tables for the terminal: aligned columns, no escape sequence unless asked for.
#include <algorithm>

#include "base/check.h"
#include "report/table.h"
#include "report/text.h"

namespace margin::report {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kBest = "\x1b[1;32m";
constexpr std::string_view kFaint = "\x1b[2m";
constexpr std::string_view kReset = "\x1b[0m";

class TextTable {
 public:
  TextTable(const Table& table, const TextStyle& style) : table_(table), style_(style) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      std::size_t width = columns_of(heading(i));
      bool starred = false;
      for (const auto& row : table.rows) {
        MARGIN_CHECK(row.size() == table.columns.size(), "a row has one cell per column");
        width = std::max(width, columns_of(value(row[i], i)));
        starred = starred || row[i].best;
      }
      starred_.push_back(starred);
      widths_.push_back(width);
    }
  }

  std::string text() && {
    if (!table_.title.empty()) out_ += styled(visible(table_.title), kBold) + "\n\n";
    for (std::size_t i = 0; i < widths_.size(); ++i) append(i, heading(i), kBold, " ");
    end_line();
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      std::string rule;
      for (std::size_t column = 0; column < widths_[i]; ++column) rule += "─";
      append(i, rule, kFaint, " ");
    }
    end_line();
    for (const auto& row : table_.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) append(i, value(row[i], i), row[i].best ? kBest : "", row[i].best ? "*" : " ");
      end_line();
    }
    const bool stars = std::find(starred_.begin(), starred_.end(), true) != starred_.end();
    if (stars || !table_.notes.empty()) out_ += '\n';
    if (stars) out_ += "* best\n";
    for (const std::string& note : table_.notes) out_ += visible(note) + "\n";
    return std::move(out_);
  }

 private:
  std::string heading(std::size_t column) const { return shortened(table_.columns[column].name, style_.text_columns_max); }
  std::string value(const Cell& cell, std::size_t column) const {
    return shortened(cell_text(cell, table_.columns[column]), style_.text_columns_max);
  }
  std::string styled(const std::string& text, std::string_view sequence) const {
    if (!style_.colour || sequence.empty()) return text;
    return std::string(sequence) + text + std::string(kReset);
  }

  void append(std::size_t column, const std::string& text, std::string_view sequence, std::string_view star) {
    const std::size_t space = widths_[column] - columns_of(text);
    const Column& shape = table_.columns[column];
    std::size_t before = stands_right(shape) ? space : 0;
    if (shape.alignment == Alignment::kCentre) before = space / 2;
    if (column > 0) out_ += "  ";
    out_.append(before, ' ');
    out_ += styled(text, sequence);
    if (starred_[column]) out_ += star;
    out_.append(space - before, ' ');
  }
  void end_line() {
    out_.erase(out_.find_last_not_of(' ') + 1);
    out_ += '\n';
  }

  const Table& table_;
  const TextStyle& style_;
  std::vector<std::size_t> widths_;
  std::vector<bool> starred_;
  std::string out_;
};

}  // namespace

std::string to_text(const Table& table, const TextStyle& style) { return TextTable(table, style).text(); }

}  // namespace margin::report
