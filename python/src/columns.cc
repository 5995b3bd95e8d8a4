#include "columns.h"

#include <charconv>
#include <unordered_map>

namespace margin::python {
namespace {

std::string at(std::string_view field, std::string_view problem) { return std::string(field) + ": " + std::string(problem); }

py::array as_array(std::string_view field, const py::handle& values) {
  if (py::isinstance<py::str>(values)) raise_wrong_type(at(field, "got str, expected a column of numbers"));
  py::array array = py::array::ensure(values);
  if (!array) {
    PyErr_Clear();
    raise_wrong_type(at(field, "got " + type_name(values) + ", expected a column of numbers"));
  }
  // numpy makes one object of what it cannot take apart: generators, sets, dicts.
  if (array.ndim() == 0 && array.dtype().kind() == 'O') raise_wrong_type(at(field, "got " + type_name(values) + ", expected a column"));
  if (type_name(values) == "MaskedArray") raise_wrong_type(at(field, "got MaskedArray, expected a column without masks"));
  if (array.ndim() != 1) {
    std::string shape;
    for (py::ssize_t i = 0; i < array.ndim(); ++i) shape += (i == 0 ? "" : ", ") + std::to_string(array.shape(i));
    raise({ErrorCode::kInvalidArgument, at(field, "got shape (" + shape + "), expected one dimension")});
  }
  return array;
}

std::string dtype_name(const py::array& array) { return py::str(array.dtype()).cast<std::string>(); }

}  // namespace

std::string shown(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string type_name(const py::handle& value) { return py::str(py::type::handle_of(value).attr("__name__")).cast<std::string>(); }

DoubleArray number_column(std::string_view field, const py::handle& values) {
  const py::array array = as_array(field, values);
  const char kind = array.dtype().kind();
  if (array.size() > 0 && kind != 'f' && kind != 'i' && kind != 'u' && kind != 'b') {
    raise_wrong_type(at(field, "got dtype " + dtype_name(array) + ", expected numbers"));
  }
  DoubleArray column = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!column) throw py::error_already_set();
  return column;
}

DoubleArray new_column(std::size_t rows) { return DoubleArray(static_cast<py::ssize_t>(rows)); }

std::string_view text_of(std::string_view field, const py::handle& value) {
  if (!PyUnicode_Check(value.ptr())) raise_wrong_type(at(field, "got " + type_name(value) + ", expected str"));
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    raise({ErrorCode::kInvalidArgument, at(field, "got a str with lone surrogates, expected text that UTF-8 can hold")});
  }
  return {text, static_cast<std::size_t>(size)};
}

void visit_labels(std::string_view field, const py::handle& labels, const LabelVisitor& visitor) {
  py::object rows = py::reinterpret_borrow<py::object>(labels);
  const bool listed = py::isinstance<py::list>(labels) || py::isinstance<py::tuple>(labels);
  const bool texts = listed && py::len(labels) > 0 && PyUnicode_Check(py::object(rows[py::int_(0)]).ptr());
  if (!texts) {
    const py::array array = as_array(field, labels);
    const char kind = array.dtype().kind();
    if (kind == 'i' || kind == 'u') {
      const auto numbers = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(array);
      if (!numbers) throw py::error_already_set();
      visitor.begin(static_cast<std::size_t>(numbers.size()));
      for (py::ssize_t row = 0; row < numbers.size(); ++row) visitor.number(static_cast<std::size_t>(row), numbers.data()[row]);
      return;
    }
    if (array.size() > 0 && kind != 'O' && kind != 'U' && kind != 'T') {  // T: numpy 2's strings of any length
      raise_wrong_type(at(field, "got dtype " + dtype_name(array) + ", expected text or whole numbers"));
    }
    rows = array.attr("tolist")();
  }
  const py::object fast = py::reinterpret_steal<py::object>(PySequence_Fast(rows.ptr(), "a column"));
  if (!fast) throw py::error_already_set();
  const auto size = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(fast.ptr()));
  visitor.begin(size);
  PyObject** const items = PySequence_Fast_ITEMS(fast.ptr());
  for (std::size_t row = 0; row < size; ++row) {
    if (!PyUnicode_Check(items[row])) {
      raise_wrong_type("row " + std::to_string(row) + ": " + at(field, "got " + type_name(items[row]) + ", expected str"));
    }
    visitor.text(row, text_of(field, items[row]));
  }
}

std::vector<std::uint32_t> label_codes(std::string_view field, const py::handle& labels, std::size_t* distinct) {
  std::vector<std::uint32_t> codes;
  std::unordered_map<std::string, std::uint32_t> by_text;
  std::unordered_map<std::int64_t, std::uint32_t> by_number;
  const auto next = [&] { return static_cast<std::uint32_t>(by_text.size() + by_number.size()); };
  visit_labels(
      field, labels,
      {.number = [&](std::size_t row, std::int64_t number) { codes[row] = by_number.try_emplace(number, next()).first->second; },
       .text = [&](std::size_t row, std::string_view text) { codes[row] = by_text.try_emplace(std::string(text), next()).first->second; },
       .begin = [&](std::size_t rows) { codes.resize(rows); }});
  if (distinct != nullptr) *distinct = next();
  return codes;
}

void require_length(std::string_view field, std::size_t got, std::string_view other, std::size_t expected) {
  if (got == expected) return;
  raise({ErrorCode::kInvalidArgument,
         at(field, "got " + std::to_string(got) + " rows, expected " + std::to_string(expected) + " as in " + std::string(other))});
}

void require_probability(std::string_view field, double value) {
  if (value >= 0.0 && value <= 1.0) return;
  raise({ErrorCode::kInvalidArgument, at(field, "got " + shown(value) + ", expected a number in [0, 1]")});
}

void require_probabilities(std::string_view field, std::span<const double> values) {
  // Without a way out the compiler looks at several rows at once; which one it was is asked only when it matters.
  bool all = true;
  for (const double value : values) all &= (value >= 0.0) & (value <= 1.0);
  if (all) return;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (values[row] >= 0.0 && values[row] <= 1.0) continue;
    raise({ErrorCode::kInvalidArgument,
           "row " + std::to_string(row) + ": " + at(field, "got " + shown(values[row]) + ", expected a number in [0, 1]")});
  }
}

}  // namespace margin::python
