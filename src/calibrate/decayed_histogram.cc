// decayed_histogram: the exponentially averaged accuracy of each confidence bin per model, started at the bin's midpoint.
// A weight w learns at rate 1-(1-alpha)^w. docs/calibration.md#decayed_histogram
#include "calibrate/histogram.h"
#include "calibrate/per_model.h"
#include "calibrate/rate.h"
#include "calibrate/registry.h"

namespace margin {
namespace {

const CalibratorInfo& info() {
  static const CalibratorInfo kInfo{
      .identifier = "decayed_histogram",
      .summary = "accuracy of the confidence bin, exponentially averaged",
      .parameters = {internal::rate_parameter("alpha", 0.04, "rate of the average; 1/alpha is its memory in observations of the bin"),
                     internal::bins_parameter()}};
  return kInfo;
}

class DecayedHistogram final : public internal::PerModelCalibrator<internal::Histogram> {
 public:
  explicit DecayedHistogram(Parameters resolved)
      : PerModelCalibrator(margin::info(), std::move(resolved)),
        alpha_(number(parameters(), "alpha")),
        bins_(integer(parameters(), "bins")) {}

  [[nodiscard]] int bands() const override { return bins_; }

 protected:
  [[nodiscard]] internal::Histogram fresh() const override { return internal::Histogram(bins_); }
  [[nodiscard]] double predict(ModelId model, double confidence) const override { return state(model).predict(confidence); }

  void learn(const Observation& observation) override {
    internal::Bin& bin = state(observation.model).of(observation.confidence);
    const double rate = internal::weighted_rate(alpha_, observation.weight);
    bin.accuracy = (1.0 - rate) * bin.accuracy + rate * observation.outcome;
    bin.count += observation.weight;
  }

  void describe(ModelId model, Explanation& explanation) const override { state(model).describe(explanation); }

 private:
  const double alpha_;
  const int bins_;
};

}  // namespace

const internal::Method internal::kDecayedHistogram = {
    info, [](Parameters resolved) -> std::unique_ptr<Calibrator> { return std::make_unique<DecayedHistogram>(std::move(resolved)); }};

}  // namespace margin
