// Table: aligned columns for people. Cells are printed as they are; text of a log goes through printable() first.
#pragma once

#include <string>
#include <vector>

namespace margin::experiment {

class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  // numbers stand to the right
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::string text(const std::string& indent = "") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace margin::experiment
