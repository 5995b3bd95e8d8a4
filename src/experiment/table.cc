#include "experiment/table.h"

#include <algorithm>

namespace margin::experiment {
namespace {

// Characters, not bytes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

}  // namespace

std::string Table::text(const std::string& indent) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
  }
  std::string out;
  const auto append = [&](std::size_t column, const std::string& cell) {
    const std::string padding(widths[column] - width_of(cell), ' ');
    out += column == 0 ? indent : "  ";
    out += columns_[column].right ? padding + cell : cell + padding;
  };
  const auto end_line = [&] {
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  for (std::size_t i = 0; i < columns_.size(); ++i) append(i, columns_[i].title);
  end_line();
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < columns_.size(); ++i) append(i, row[i]);
    end_line();
  }
  return out;
}

}  // namespace margin::experiment
