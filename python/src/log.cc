#include "log.h"

#include <pybind11/stl.h>

#include <cmath>

#include "arrow.h"
#include "columns.h"
#include "dataset/reader.h"
#include "dataset/simulate.h"
#include "frame.h"

namespace margin::python {
namespace {

using dataset::ObservationLog;

class NumberCells : public Cells {
 public:
  explicit NumberCells(DoubleArray column, Cell::Kind kind) : column_(std::move(column)), kind_(kind) {}
  [[nodiscard]] Cell at(std::size_t row) override {
    const double number = column_.data()[row];
    return number != number ? Cell() : Cell{kind_, number};
  }

 private:
  DoubleArray column_;
  Cell::Kind kind_;
};

// A column of Python objects.
class ObjectCells : public Cells {
 public:
  ObjectCells(std::string_view field, py::object column)
      : field_(field), column_(py::reinterpret_steal<py::object>(PySequence_Fast(column.ptr(), "expected a column"))) {
    if (!column_) throw py::error_already_set();
  }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(PySequence_Fast_GET_SIZE(column_.ptr())); }

  [[nodiscard]] Cell at(std::size_t row) override {
    PyObject* const item = PySequence_Fast_GET_ITEM(column_.ptr(), static_cast<Py_ssize_t>(row));
    if (PyUnicode_Check(item)) return {Cell::Kind::kText, 0.0, text_of(field_, item)};
    if (item == Py_None) return {};
    if (PyBool_Check(item)) return {Cell::Kind::kFlag, item == Py_True ? 1.0 : 0.0};
    type_ = type_name(item);
    if (type_ == "NAType" || type_ == "NaTType") return {};  // how pandas says missing
    if (!PyNumber_Check(item)) return {Cell::Kind::kOther, 0.0, type_};
    const double number = PyFloat_AsDouble(item);
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return {Cell::Kind::kOther, 0.0, type_};
    }
    return number != number ? Cell() : Cell{Cell::Kind::kNumber, number};
  }

 private:
  std::string field_;
  py::object column_;
  std::string type_;
};

std::unique_ptr<Cells> cells_of(std::string_view field, const py::object& column, std::size_t& rows) {
  if (py::isinstance<py::array>(column)) {
    const char kind = py::cast<py::array>(column).dtype().kind();
    if (kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b') {
      DoubleArray numbers = number_column(field, column);
      rows = view(numbers).size();
      return std::make_unique<NumberCells>(std::move(numbers), kind == 'b' ? Cell::Kind::kFlag : Cell::Kind::kNumber);
    }
  }
  const py::object list = py::hasattr(column, "tolist") ? column.attr("tolist")() : column;
  if (!PySequence_Check(list.ptr()) || PyUnicode_Check(list.ptr())) {
    raise_wrong_type(std::string(field) + ": got " + type_name(column) + ", expected a column");
  }
  auto cells = std::make_unique<ObjectCells>(field, list);
  rows = cells->size();
  return cells;
}

void require_scale(double scale) {
  if (scale > 0.0 && std::isfinite(scale)) return;
  raise({ErrorCode::kInvalidArgument, "scale: got " + shown(scale) + ", expected a positive number"});
}

// What the readers say of a flag, said of the argument.
template <class R>
R in_our_words(R result) {
  constexpr std::string_view kFlag = "--scale 100";
  if (result.ok()) return result;
  Error error = result.error();
  if (const auto at = error.message.find(kFlag); at != std::string::npos) error.message.replace(at, kFlag.size(), "scale=100");
  return error;
}

Log finished(ObservationLog log) {
  if (log.rows() == 0) raise({ErrorCode::kInvalidArgument, "the table has no row"});
  check(log.check_duplicates());
  return {std::make_shared<const ObservationLog>(std::move(log))};
}

Log from_files(const std::vector<std::string>& paths, double scale, const std::string& format) {
  using dataset::InputFormat;
  require_scale(scale);
  if (format != "auto" && format != "csv" && format != "jsonl") {
    raise({ErrorCode::kInvalidArgument, "format: got " + format + ", expected auto, csv or jsonl"});
  }
  const dataset::ReadOptions options{.scale = scale,
                                     .format = format == "csv"     ? InputFormat::kCsv
                                               : format == "jsonl" ? InputFormat::kJsonLines
                                                                   : InputFormat::kByName};
  auto read = [&] {
    const py::gil_scoped_release others_run;
    return dataset::read_observations(paths, options);
  }();
  return {std::make_shared<const ObservationLog>(value_of(in_our_words(std::move(read))))};
}

Log from_columns(const py::dict& columns, double scale) {
  require_scale(scale);
  Table table;
  std::string first;
  for (const auto& [key, column] : columns) {
    const std::string name(text_of("column", key));
    const auto field = dataset::field_of(name);
    if (!field) continue;
    std::size_t rows = 0;
    auto cells = cells_of(name, py::reinterpret_borrow<py::object>(column), rows);
    if (!table.columns.empty()) require_length(name, rows, first, table.rows);
    if (table.columns.empty()) first = name;
    table.rows = rows;
    table.columns.push_back({*field, std::move(cells)});
  }
  check(check_columns(table));
  ObservationLog log;
  check(in_our_words(append_table(table, scale, 0, log)));
  return finished(std::move(log));
}

Log from_arrow_stream(const py::capsule& stream, double scale) {
  require_scale(scale);
  ObservationLog log;
  append_arrow_stream(stream, scale, log);
  return finished(std::move(log));
}

Log from_arrow_array(const py::capsule& schema, const py::capsule& array, double scale) {
  require_scale(scale);
  ObservationLog log;
  append_arrow_array(schema, array, scale, log);
  return finished(std::move(log));
}

std::vector<std::string> to_list(const dataset::Names& names) {
  std::vector<std::string> list;
  for (std::uint32_t i = 0; i < names.size(); ++i) list.emplace_back(names[i]);
  return list;
}

py::dict simulate(const std::string& cohort, std::uint64_t seed, std::optional<std::uint32_t> tasks) {
  auto made = [&] {
    const py::gil_scoped_release others_run;
    return dataset::simulate(cohort, {.seed = seed, .tasks = tasks});
  }();
  const dataset::Simulation simulation = value_of(std::move(made));
  const ObservationLog& log = simulation.log;
  FrameColumns frame;
  for (std::size_t row = 0; row < log.rows(); ++row) {
    const ObservationLog::Task& task = log.tasks()[log.task(row)];
    frame.text("task", task.name);
    frame.text("model", std::string(log.models()[log.model(row)]));
    frame.number("confidence", log.confidence(row));
    frame.number("correct", log.correct(row));
    frame.text("answer", log.answer(row) == ObservationLog::kNone ? FrameColumns::Text() : std::string(log.answers()[log.answer(row)]));
    frame.text("phase", std::string(log.phases()[task.phase]));
    frame.text("channel", std::string(log.channels()[log.channel(row)]));
    frame.number("t", log.t(row));
    frame.number("p", simulation.p[row]);
  }
  return frame.take();
}

}  // namespace

void bind_log(py::module_& module) {
  py::class_<Log>(module, "Log", "The responses of a log, checked and in memory: read once, replayed many times.")
      .def_static("from_files", &from_files, py::arg("paths"), py::arg("scale") = 1.0, py::arg("format") = "auto")
      .def_static("from_columns", &from_columns, py::arg("columns"), py::arg("scale") = 1.0)
      .def_static("from_arrow_stream", &from_arrow_stream, py::arg("stream"), py::arg("scale") = 1.0)
      .def_static("from_arrow_array", &from_arrow_array, py::arg("schema"), py::arg("array"), py::arg("scale") = 1.0)
      .def_property_readonly(
          "rows", [](const Log& self) { return self.rows->rows(); }, "Responses, usable or not.")
      .def_property_readonly(
          "tasks", [](const Log& self) { return self.rows->tasks().size(); }, "How many tasks there are.")
      .def_property_readonly(
          "models", [](const Log& self) { return to_list(self.rows->models()); }, "In the order of their first row.")
      .def_property_readonly(
          "phases", [](const Log& self) { return to_list(self.rows->phases()); }, "In the order of their first row.")
      .def_property_readonly(
          "channels", [](const Log& self) { return to_list(self.rows->channels()); }, "In the order of their first row.")
      .def("__repr__", [](const Log& self) {
        return "Log of " + std::to_string(self.rows->rows()) + " responses of " + std::to_string(self.rows->models().size()) +
               " models to " + std::to_string(self.rows->tasks().size()) + " tasks";
      });
  module.def("simulate", &simulate, py::arg("cohort"), py::arg("seed") = 1, py::arg("tasks") = py::none());
}

}  // namespace margin::python
