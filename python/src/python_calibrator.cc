#include "python_calibrator.h"

#include "columns.h"

namespace margin::python {
namespace {

const CalibratorInfo& info_of_python() {
  static const CalibratorInfo info{.identifier = "python", .summary = "written in Python", .parameters = {}};
  return info;
}

class PythonCalibrator : public Calibrator {
 public:
  PythonCalibrator(py::object object, std::shared_ptr<const PythonNames> names, Failure& failure)
      : Calibrator(info_of_python(), {}), object_(std::move(object)), names_(std::move(names)), failure_(failure) {}
  ~PythonCalibrator() override {
    const py::gil_scoped_acquire held;
    object_ = {};
  }
  PythonCalibrator(const PythonCalibrator&) = delete;
  PythonCalibrator& operator=(const PythonCalibrator&) = delete;

  [[nodiscard]] std::unique_ptr<Calibrator> clone() const override {
    const py::gil_scoped_acquire held;
    py::object copy = object_;
    guarded([&] { copy = py::module_::import("copy").attr("deepcopy")(object_); });
    return std::make_unique<PythonCalibrator>(std::move(copy), names_, failure_);
  }

 protected:
  void on_join(ModelId, const Calibrator*, ModelId) override {}
  void make_room(std::size_t) override {}
  // Nothing is restored from these bytes: clone() copies the object.
  void save(internal::Encoder&) const override {}
  void load(internal::Decoder&) override {}
  void describe(ModelId, Explanation&) const override {}

  [[nodiscard]] double predict(ModelId model, double confidence) const override {
    const py::gil_scoped_acquire held;
    double p = confidence;
    guarded([&] {
      const py::object said = object_.attr("predict")(names_->models[model], confidence);
      const double number = PyFloat_AsDouble(said.ptr());
      if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        raise_wrong_type(names_->label + ".predict: got " + type_name(said) + ", expected a number in [0, 1]");
      }
      require_probability(names_->label + ".predict", number);
      p = number;
    });
    return p;
  }

  void learn(const Observation& observation) override {
    const py::gil_scoped_acquire held;
    guarded(
        [&] { object_.attr("learn")(names_->models[observation.model], observation.confidence, observation.outcome, observation.weight); });
  }

 private:
  template <class Call>
  void guarded(const Call& call) const {
    try {
      call();
    } catch (py::error_already_set& error) {
      failure_.keep(std::move(error));
    }
  }

  py::object object_;
  std::shared_ptr<const PythonNames> names_;
  Failure& failure_;
};

}  // namespace

void Failure::keep(py::error_already_set error) {
  progress_.stop = true;
  const std::lock_guard lock(mutex_);
  if (!first_) first_.emplace(std::move(error));
}

void Failure::rethrow() {
  if (!first_) return;
  py::error_already_set error = std::move(*first_);
  first_.reset();
  throw error;
}

std::unique_ptr<Calibrator> make_python_calibrator(py::object prototype, std::shared_ptr<const PythonNames> names, Failure& failure) {
  return std::make_unique<PythonCalibrator>(std::move(prototype), std::move(names), failure);
}

}  // namespace margin::python
