// margin._core: the C++ core as a Python module. python/margin/ is what users import.
#include <cstdlib>

#include "bind.h"

namespace margin::python {
namespace {

const char* exception_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "InvalidArgument";
    case ErrorCode::kNotFound: return "NotFound";
    case ErrorCode::kConflict: return "Conflict";
    case ErrorCode::kLimit: return "LimitExceeded";
    case ErrorCode::kCorrupt: return "Corrupt";
    case ErrorCode::kUnsupported: return "Unsupported";
    case ErrorCode::kUnavailable: return "Unavailable";
  }
  return "MarginError";
}

[[noreturn]] void raise_as(const char* name, const std::string& message) {
  // Names and answers may hold any bytes; a message is text.
  const py::object text =
      py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace"));
  const py::object type = py::module_::import("margin.errors").attr(name);
  PyErr_SetObject(type.ptr(), text.ptr());
  throw py::error_already_set();
}

// pybind11 before 2.12 reads the arrays of numpy 2 at the wrong places, and nobody knows those of numpy 3.
void require_known_numpy() {
  constexpr int kNewest = PYBIND11_VERSION_HEX < 0x020C0000 ? 1 : 2;
  const auto version = py::module_::import("numpy").attr("__version__").cast<std::string>();
  if (std::strtol(version.c_str(), nullptr, 10) <= kNewest) return;
  throw py::import_error("margin was built for numpy up to " + std::to_string(kNewest) + ", this is numpy " + version +
                         ": build it anew (pip install), which takes the pybind11 that numpy needs");
}

}  // namespace

void raise(const Error& error) { raise_as(exception_of(error.code), error.message); }
void raise_wrong_type(const std::string& message) { raise_as("WrongType", message); }

}  // namespace margin::python

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ core of MARGIN. Import margin instead: it has everything that is meant to be used.";
  margin::python::require_known_numpy();
  margin::python::bind_calibrator(module);
  margin::python::bind_pool(module);
  margin::python::bind_metrics(module);
  margin::python::bind_log(module);
  margin::python::bind_replay(module);
  margin::python::bind_experiments(module);
}
