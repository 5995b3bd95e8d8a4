// online_platt: a logistic curve of the stated confidence per model, moved by one gradient step per observation. A weight scales the step.
// docs/calibration.md#online_platt
#include <cmath>

#include "calibrate/per_model.h"
#include "calibrate/rate.h"
#include "calibrate/registry.h"

namespace margin {
namespace {

const CalibratorInfo& info() {
  // eta * lambda <= 1 keeps the penalty from overshooting, so slope and intercept stay finite whatever the stream.
  static const CalibratorInfo kInfo{
      .identifier = "online_platt",
      .summary = "logistic curve of stated confidence, one gradient step per observation",
      .parameters = {internal::rate_parameter("eta", 0.1, "size of a gradient step"),
                     number_parameter("lambda", 1e-4, 0.0, 1.0, "strength of the pull of slope and intercept toward 0")}};
  return kInfo;
}

struct Model {
  double slope = 1.0;      // a
  double intercept = 0.0;  // b
  double count = 0.0;      // sum of the weights learned from

  [[nodiscard]] double predict(double confidence) const { return sigmoid(slope * confidence + intercept); }

  void save(internal::Encoder& out) const {
    out.real(slope);
    out.real(intercept);
    out.real(count);
  }

  void load(internal::Decoder& in) {
    slope = in.real();
    intercept = in.real();
    count = in.real();
    const bool legal = std::isfinite(slope) && std::isfinite(intercept) && std::isfinite(count) && count >= 0.0 &&
                       (count > 0.0 || (slope == 1.0 && intercept == 0.0));
    if (!legal) in.fail();
  }
};

class OnlinePlatt final : public internal::PerModelCalibrator<Model> {
 public:
  explicit OnlinePlatt(Parameters resolved)
      : PerModelCalibrator(margin::info(), std::move(resolved)),
        eta_(number(parameters(), "eta")),
        lambda_(number(parameters(), "lambda")) {}

 protected:
  [[nodiscard]] Model fresh() const override { return {}; }
  [[nodiscard]] double predict(ModelId model, double confidence) const override { return state(model).predict(confidence); }

  void learn(const Observation& observation) override {
    Model& own = state(observation.model);
    const double step = eta_ * observation.weight;
    const double residual = own.predict(observation.confidence) - observation.outcome;
    own.slope -= step * (residual * observation.confidence + lambda_ * own.slope);
    own.intercept -= step * (residual + lambda_ * own.intercept);
    own.count += observation.weight;
  }

  void describe(ModelId model, Explanation& explanation) const override {
    explanation.observations = state(model).count;
    explanation.terms = {{"slope", state(model).slope}, {"intercept", state(model).intercept}};
  }

 private:
  const double eta_;
  const double lambda_;
};

}  // namespace

const internal::Method internal::kOnlinePlatt = {
    info, [](Parameters resolved) -> std::unique_ptr<Calibrator> { return std::make_unique<OnlinePlatt>(std::move(resolved)); }};

}  // namespace margin
