// CsvRows: the rows of a CSV file (RFC 4180) whose first record names the fields, in any order. Used by the reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/line_source.h"
#include "dataset/observation_log.h"
#include "dataset/row_fields.h"
#include "margin/result.h"

namespace margin::dataset {

class CsvRows {
 public:
  // `source` outlives this.
  explicit CsvRows(LineSource& source) : source_(source) {}

  // The next row; its texts are valid until the next call. False at the end of the file. An empty cell is a field that is not stated;
  // columns with other names are ignored. Types are checked here, ranges by ObservationLog. kInvalidArgument: a header without a required
  // field or with one twice, a quote out of place, too many or too few cells, a wrong type, invalid UTF-8; else as LineSource says.
  [[nodiscard]] Result<bool> next(Row& row);
  // Where the row that next() gave or refused begins, from 1.
  [[nodiscard]] std::uint32_t line_number() const { return line_number_; }

 private:
  // Fills cells_ with the next record that is not an empty line.
  Result<bool> next_record();
  // Joins the lines that the quotes of `first` hold together.
  Status gather(std::string_view first);
  Status split_quoted();
  Status read_header();

  LineSource& source_;
  std::uint32_t line_number_ = 0;
  std::vector<std::optional<Field>> columns_;  // none: an ignored column; empty until the header is read
  std::string record_;                         // holds the cells of a record with quotes
  std::vector<std::string_view> cells_;
};

}  // namespace margin::dataset
