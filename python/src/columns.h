// Columns as Python hands them over: numpy arrays, lists, pandas, polars and pyarrow columns. Numbers are used where they lie when they
// are doubles in a row, and copied otherwise. Whatever does not fit is refused by name, with what was expected.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bind.h"

namespace margin::python {

using DoubleArray = py::array_t<double, py::array::c_style>;

// A one-dimensional column of numbers or booleans. WrongType: of something else; InvalidArgument: of another shape.
[[nodiscard]] DoubleArray number_column(std::string_view field, const py::handle& values);
[[nodiscard]] inline std::span<const double> view(const DoubleArray& column) {
  return {column.data(), static_cast<std::size_t>(column.size())};
}
[[nodiscard]] DoubleArray new_column(std::size_t rows);
[[nodiscard]] inline std::span<double> room(DoubleArray& column) {
  return {column.mutable_data(), static_cast<std::size_t>(column.size())};
}

// A column of labels: whole numbers, or text. Calls the one that fits, row by row.
struct LabelVisitor {
  std::function<void(std::size_t row, std::int64_t number)> number;
  std::function<void(std::size_t row, std::string_view text)> text;
  std::function<void(std::size_t rows)> begin;
};
void visit_labels(std::string_view field, const py::handle& labels, const LabelVisitor& visitor);

// Numbers for labels, in the order in which they first come.
[[nodiscard]] std::vector<std::uint32_t> label_codes(std::string_view field, const py::handle& labels, std::size_t* distinct = nullptr);

// InvalidArgument: `got` rows where `expected` were expected.
void require_length(std::string_view field, std::size_t got, std::string_view other, std::size_t expected);

// InvalidArgument: not in [0, 1].
void require_probability(std::string_view field, double value);
void require_probabilities(std::string_view field, std::span<const double> values);

// Text of a Python str. WrongType: no str; InvalidArgument: lone surrogates, which are no text.
[[nodiscard]] std::string_view text_of(std::string_view field, const py::handle& value);

// "0.1": as short as reads back to the same number.
[[nodiscard]] std::string shown(double value);
// The type's name.
[[nodiscard]] std::string type_name(const py::handle& value);

}  // namespace margin::python
