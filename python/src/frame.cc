#include "frame.h"

#include <algorithm>
#include <unordered_map>

namespace margin::python {
namespace {

py::array to_array(const std::vector<FrameColumns::Text>& texts) {
  py::array objects(py::dtype("O"), static_cast<py::ssize_t>(texts.size()));
  auto** const cells = static_cast<PyObject**>(objects.mutable_data());
  std::unordered_map<std::string_view, py::object> shared;  // names come again and again
  for (std::size_t row = 0; row < texts.size(); ++row) {
    py::object text = py::none();
    if (texts[row]) {
      py::object& known = shared[*texts[row]];
      if (!known) known = py::str(*texts[row]);
      text = known;
    }
    Py_XDECREF(cells[row]);
    cells[row] = text.release().ptr();
  }
  return objects;
}

py::array to_array(const std::vector<bool>& flags) {
  py::array_t<bool> array(static_cast<py::ssize_t>(flags.size()));
  std::copy(flags.begin(), flags.end(), array.mutable_data());
  return array;
}

py::array to_array(std::vector<double> numbers) { return take_over(std::move(numbers)); }
py::array to_array(std::vector<std::int64_t> counts) { return take_over(std::move(counts)); }

}  // namespace

py::dict FrameColumns::take() {
  py::dict frame;
  for (auto& [name, values] : columns_) {
    frame[py::str(name)] = std::visit([](auto& column) { return to_array(std::move(column)); }, values);
  }
  columns_.clear();
  return frame;
}

}  // namespace margin::python
