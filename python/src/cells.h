// Cells: columns of a table whose kind is only known cell by cell, and how they become rows of a log. Python's columns and Arrow's are
// both read through it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/row_fields.h"

namespace margin::python {

struct Cell {
  enum class Kind { kMissing, kNumber, kFlag, kText, kOther };
  Kind kind = Kind::kMissing;
  double number = 0.0;
  std::string_view text{};  // of kText; of kOther what it is
};

class Cells {
 public:
  virtual ~Cells() = default;
  // Text is borrowed until the next call.
  [[nodiscard]] virtual Cell at(std::size_t row) = 0;
};

// A table of columns, of which a log takes those it knows by name.
struct Table {
  struct Column {
    dataset::Field field;
    std::unique_ptr<Cells> cells;
  };
  std::size_t rows = 0;
  std::vector<Column> columns;
};

// Appends the rows. `first` is the number of the table's first row, for messages. Whole numbers are names as well. Errors as a reader's,
// with "row N: " before them.
[[nodiscard]] Status append_table(Table& table, double scale, std::size_t first, dataset::ObservationLog& log);

// InvalidArgument: a required column is absent.
[[nodiscard]] Status check_columns(const Table& table);

}  // namespace margin::python
