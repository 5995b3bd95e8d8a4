// WindowedAccuracy: what windowed_accuracy_replace and windowed_accuracy_multiply share: the sums over a model's last W observations,
// weighed by their weights.
#pragma once

#include "calibrate/per_model.h"
#include "calibrate/window.h"

namespace margin::internal {

class WindowedAccuracy : public PerModelCalibrator<WindowSums> {
 protected:
  WindowedAccuracy(const CalibratorInfo& info, Parameters resolved)
      : PerModelCalibrator(info, std::move(resolved)), window_(static_cast<std::size_t>(integer(parameters(), "window"))) {}

  [[nodiscard]] WindowSums fresh() const override { return WindowSums(window_); }
  void learn(const Observation& observation) override {
    state(observation.model).push({observation.confidence, observation.outcome, observation.weight});
  }

 private:
  const std::size_t window_;
};

}  // namespace margin::internal
