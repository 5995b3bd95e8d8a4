// PythonCalibrator: an object with predict(model, confidence) and learn(model, confidence, outcome, weight), written in Python, as a
// calibrator of the core, so that it runs in the same grid as the others.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bind.h"
#include "experiment/parallel.h"
#include "margin/calibrator.h"

namespace margin::python {

// Where the first exception of any thread waits until the run has ended. Stops the run.
class Failure {
 public:
  explicit Failure(experiment::Progress& progress) : progress_(progress) {}
  // With the interpreter held.
  void keep(py::error_already_set error);
  void rethrow();

 private:
  std::mutex mutex_;
  std::optional<py::error_already_set> first_;
  experiment::Progress& progress_;
};

// The label, and the names of the models by id, as Python's own.
struct PythonNames {
  std::string label;
  std::vector<py::object> models;
};

// Made, copied and destroyed without the interpreter held, or with it. `failure` outlives it and its clones. Once something failed it
// passes confidences through, and the run ends.
[[nodiscard]] std::unique_ptr<Calibrator> make_python_calibrator(py::object prototype, std::shared_ptr<const PythonNames> names,
                                                                 Failure& failure);

}  // namespace margin::python
