// NamedCalibrator: a calibrator of the core with the names of its models; margin.Calibrator is made of it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "columns.h"
#include "margin/calibrator.h"

namespace margin::python {

// What a batch is given: columns of one length. `models` may be one name for all rows.
struct BatchColumns {
  py::object models, confidences, outcomes, weights, tasks;
};

// Every function that takes Python objects is called with the interpreter held; the batches give it away while they compute.
class NamedCalibrator {
 public:
  // `names` by id. Corrupt: not one for each model, or a name twice.
  explicit NamedCalibrator(std::unique_ptr<Calibrator> calibrator, std::vector<std::string> names = {});

  [[nodiscard]] const Calibrator& core() const { return *calibrator_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::mutex& mutex() const { return mutex_; }
  [[nodiscard]] std::unique_ptr<NamedCalibrator> copy() const;

  // Returns the model's id. LimitExceeded: too many models; NotFound: no such predecessor.
  ModelId join(std::string_view name, const std::optional<std::string>& predecessor = {});
  void leave(std::string_view name);
  [[nodiscard]] bool present(std::string_view name) const;

  // An unknown model joins.
  double calibrate(std::string_view model, double confidence);
  void observe(std::string_view model, const Observation& observation);
  // NotFound: an unknown model.
  [[nodiscard]] Explanation explain(std::string_view model, double confidence) const;
  void begin_task() { calibrator_->begin_task(); }
  void end_task() { calibrator_->end_task(); }

  // All rows are checked before anything changes. A new name joins just before its first row (with tasks: its first task).
  [[nodiscard]] DoubleArray calibrate_batch(const BatchColumns& columns);
  void observe_batch(const BatchColumns& columns);
  [[nodiscard]] DoubleArray prequential_batch(const BatchColumns& columns);
  void fit(const BatchColumns& columns);

 private:
  struct Rows;

  [[nodiscard]] ModelId existing(std::string_view name) const;
  void add_name(std::string name);
  void read_models(const py::handle& models, Rows& rows) const;
  [[nodiscard]] Rows read_rows(const BatchColumns& columns) const;
  void check_rows(const Rows& rows) const;
  void take_names(Rows& rows);
  // Rows as the core takes them, from row `first` on; false stops.
  using Work = std::function<bool(std::span<const Observation>, std::size_t first)>;
  void for_each_piece(const Rows& rows, const Work& work);
  Status learn(const Rows& rows, std::span<const Observation> piece);

  std::unique_ptr<Calibrator> calibrator_;
  std::vector<std::string> names_;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, ModelId, Hash, std::equal_to<>> ids_;
  mutable std::mutex mutex_;
};

}  // namespace margin::python
