// What every part of the Python module stands on: the core's errors raised as Python's, locks that never wait with the interpreter held,
// and the parts themselves.
#pragma once

#include <pybind11/pybind11.h>

#include <mutex>
#include <string>
#include <utility>

#include "margin/result.h"

namespace margin::python {

namespace py = pybind11;

// Raises the class of margin.errors that belongs to the code.
[[noreturn]] void raise(const Error& error);
// margin.WrongType: not of a type that could hold what was expected.
[[noreturn]] void raise_wrong_type(const std::string& message);

inline void check(const Status& status) {
  if (!status) raise(status.error());
}
template <class T>
T value_of(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(result).value();
}

// Holds a mutex of an object that several Python threads share. Waits only without the interpreter's lock: a long call gives that lock
// away while it holds the mutex and takes it back before it lets go, so waiting for both in the other order would never end.
class Lock {
 public:
  explicit Lock(std::mutex& mutex) : mutex_(mutex) {
    if (mutex_.try_lock()) return;
    const py::gil_scoped_release others_run;
    mutex_.lock();
  }
  ~Lock() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::mutex& mutex_;
};

void bind_calibrator(py::module_& module);
void bind_pool(py::module_& module);
void bind_metrics(py::module_& module);
void bind_log(py::module_& module);
void bind_replay(py::module_& module);
void bind_experiments(py::module_& module);
void bind_fixed_experiments(py::module_& experiments);

}  // namespace margin::python
