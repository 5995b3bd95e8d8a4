#include "frame.h"

#include <algorithm>
#include <unordered_map>

namespace margin::python {
namespace {

py::array to_array(std::vector<std::string> texts) {
  py::array objects(py::dtype("O"), static_cast<py::ssize_t>(texts.size()));
  auto** const cells = static_cast<PyObject**>(objects.mutable_data());
  std::unordered_map<std::string, py::str> shared;  // names come again and again
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const auto found = shared.find(texts[row]);
    const py::str text = found != shared.end() ? found->second : py::str(texts[row]);
    if (found == shared.end() && shared.size() < 65'536) shared.emplace(texts[row], text);
    Py_XDECREF(cells[row]);
    cells[row] = text.inc_ref().ptr();
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
