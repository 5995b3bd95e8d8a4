// windowed_accuracy_multiply: stated confidence times the model's recent accuracy over its recent mean confidence.
// docs/calibration.md#windowed_accuracy_multiply
#include <algorithm>
#include <limits>

#include "calibrate/registry.h"
#include "calibrate/windowed_accuracy.h"
#include "margin/math.h"

namespace margin {
namespace {

const CalibratorInfo& info() {
  static const CalibratorInfo kInfo{.identifier = "windowed_accuracy_multiply",
                                    .summary = "stated confidence times accuracy over mean confidence of the model's last observations",
                                    .parameters = {internal::window_parameter()}};
  return kInfo;
}

class WindowedAccuracyMultiply final : public internal::WindowedAccuracy {
 public:
  explicit WindowedAccuracyMultiply(Parameters resolved) : WindowedAccuracy(margin::info(), std::move(resolved)) {}

 protected:
  // The quotient of the sums is that of the means. Multiplied before divided: the quotient alone may overflow, and infinity times a
  // confidence of 0 would not be a number.
  [[nodiscard]] double predict(ModelId model, double confidence) const override {
    const internal::WindowSums& sums = state(model);
    return sums.confidence() > 0.0 ? clip01(confidence * sums.outcome() / sums.confidence()) : confidence;
  }

  void describe(ModelId model, Explanation& explanation) const override {
    const internal::WindowSums& sums = state(model);
    explanation.observations = sums.weight();
    explanation.factor = sums.confidence() > 0.0 ? std::min(sums.outcome() / sums.confidence(), std::numeric_limits<double>::max()) : 1.0;
    if (sums.empty()) {
      explanation.terms = {{"stated confidence (empty window)", explanation.confidence}};
    } else {
      explanation.terms = {{"accuracy in the window", sums.outcome() / sums.weight()},
                           {"mean stated confidence in the window", sums.confidence() / sums.weight()},
                           {"factor", explanation.factor}};
    }
  }
};

}  // namespace

const internal::Method internal::kWindowedAccuracyMultiply = {info, [](Parameters resolved) -> std::unique_ptr<Calibrator> {
                                                                return std::make_unique<WindowedAccuracyMultiply>(std::move(resolved));
                                                              }};

}  // namespace margin
