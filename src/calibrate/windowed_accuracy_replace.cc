// windowed_accuracy_replace: a model's recent accuracy in place of whatever it states.
// docs/calibration.md#windowed_accuracy_replace
#include "calibrate/registry.h"
#include "calibrate/windowed_accuracy.h"

namespace margin {
namespace {

const CalibratorInfo& info() {
  static const CalibratorInfo kInfo{.identifier = "windowed_accuracy_replace",
                                    .summary = "the model's accuracy over its last observations, whatever it states",
                                    .parameters = {internal::window_parameter()}};
  return kInfo;
}

class WindowedAccuracyReplace final : public internal::WindowedAccuracy {
 public:
  explicit WindowedAccuracyReplace(Parameters resolved) : WindowedAccuracy(margin::info(), std::move(resolved)) {}

 protected:
  [[nodiscard]] double predict(ModelId model, double confidence) const override {
    const internal::WindowSums& sums = state(model);
    return sums.empty() ? confidence : sums.outcome() / sums.weight();
  }

  void describe(ModelId model, Explanation& explanation) const override {
    const internal::WindowSums& sums = state(model);
    explanation.observations = sums.weight();
    if (sums.empty()) {
      explanation.terms = {{"stated confidence (empty window)", explanation.confidence}};
    } else {
      explanation.terms = {{"accuracy in the window", sums.outcome() / sums.weight()}};
    }
  }
};

}  // namespace

const internal::Method internal::kWindowedAccuracyReplace = {info, [](Parameters resolved) -> std::unique_ptr<Calibrator> {
                                                               return std::make_unique<WindowedAccuracyReplace>(std::move(resolved));
                                                             }};

}  // namespace margin
