// FrameColumns: rows gathered into columns that numpy takes over; margin.Frame is made of them.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bind.h"

namespace margin::python {

// A vector's memory becomes an array's: nothing is copied.
template <class T>
py::array take_over(std::vector<T> values) {
  auto* const owned = new std::vector<T>(std::move(values));
  const py::capsule owner(owned, [](void* memory) { delete static_cast<std::vector<T>*>(memory); });
  return py::array_t<T>(static_cast<py::ssize_t>(owned->size()), owned->data(), owner);
}

class FrameColumns {
 public:
  // Appends to the column of that name, which is made where it is new. Every row gives every column once.
  using Text = std::optional<std::string>;  // none becomes None
  void text(std::string_view column, Text value) { of<std::vector<Text>>(column).push_back(std::move(value)); }
  void number(std::string_view column, std::optional<double> value) {
    of<std::vector<double>>(column).push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  void count(std::string_view column, std::size_t value) {
    of<std::vector<std::int64_t>>(column).push_back(static_cast<std::int64_t>(value));
  }
  void flag(std::string_view column, bool value) { of<std::vector<bool>>(column).push_back(value); }

  // {name: array}; text as arrays of str objects.
  [[nodiscard]] py::dict take();

 private:
  using Values = std::variant<std::vector<Text>, std::vector<double>, std::vector<std::int64_t>, std::vector<bool>>;

  template <class V>
  V& of(std::string_view column) {
    for (auto& [name, values] : columns_) {
      if (name == column) return std::get<V>(values);
    }
    return std::get<V>(columns_.emplace_back(column, V()).second);
  }

  std::vector<std::pair<std::string, Values>> columns_;
};

}  // namespace margin::python
