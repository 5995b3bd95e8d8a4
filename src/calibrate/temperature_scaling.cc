// temperature_scaling: log odds divided by a temperature per model, fitted on calibration rows (weighed by their weights) and frozen.
// docs/calibration.md#temperature_scaling
#include <cmath>
#include <limits>

#include "calibrate/per_model.h"
#include "calibrate/registry.h"
#include "margin/math.h"

namespace margin {
namespace {

constexpr double kTemperatureMin = 0.05;
constexpr double kTemperatureMax = 20.0;
constexpr double kConfidenceMin = 1e-6;

const CalibratorInfo& info() {
  static const CalibratorInfo kInfo{
      .identifier = "temperature_scaling", .design_time = true, .summary = "log odds divided by a temperature fitted at design time"};
  return kInfo;
}

double log_odds(double confidence) { return logit(clip(confidence, kConfidenceMin, 1.0 - kConfidenceMin)); }

// Log loss over the rows as a function of the inverse temperature, in which it is convex: its first two derivatives.
struct Slope {
  double first = 0.0;
  double second = 0.0;
};

struct Example {
  double log_odds = 0.0;
  double outcome = 0.0;
  double weight = 0.0;
};

Slope slope_of_loss(std::span<const Example> examples, double inverse) {
  Slope slope;
  for (const Example& example : examples) {
    const double p = sigmoid(inverse * example.log_odds);
    slope.first += example.weight * (p - example.outcome) * example.log_odds;
    slope.second += example.weight * p * (1.0 - p) * example.log_odds * example.log_odds;
  }
  return slope;
}

// Newton's method inside a bracket that halves where a step would leave it. Where every inverse temperature is as good as another (all
// confidences at one half) the answer is 1.
double best_inverse_temperature(std::span<const Example> examples) {
  constexpr int kStepsMax = 200;
  constexpr double kPrecision = 1e-15;
  double low = 1.0 / kTemperatureMax;
  double high = 1.0 / kTemperatureMin;
  double inverse = 1.0;
  Slope slope = slope_of_loss(examples, inverse);
  if (slope.first == 0.0) return inverse;
  if (slope_of_loss(examples, low).first >= 0.0) return low;
  if (slope_of_loss(examples, high).first <= 0.0) return high;
  for (int step = 0; step < kStepsMax && slope.first != 0.0; ++step) {
    (slope.first < 0.0 ? low : high) = inverse;
    const double newton = inverse - slope.first / slope.second;
    const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
    const bool settled = std::fabs(next - inverse) <= kPrecision * inverse;
    inverse = next;
    if (settled) break;
    slope = slope_of_loss(examples, inverse);
  }
  return inverse;
}

struct Model {
  double temperature = 1.0;
  double count = 0.0;  // sum of the weights of its calibration rows

  void fit(std::span<const Observation> rows) {
    std::vector<Example> examples;
    examples.reserve(rows.size());
    for (const Observation& row : rows) {
      examples.push_back({log_odds(row.confidence), row.outcome, row.weight});
      count += row.weight;
    }
    temperature = clip(1.0 / best_inverse_temperature(examples), kTemperatureMin, kTemperatureMax);
  }

  void save(internal::Encoder& out) const {
    out.real(temperature);
    out.real(count);
  }

  void load(internal::Decoder& in) {
    temperature = in.real();
    count = in.real();
    const bool legal = temperature >= kTemperatureMin && temperature <= kTemperatureMax && count >= 0.0 &&
                       count <= std::numeric_limits<double>::max() && (count > 0.0 || temperature == 1.0);
    if (!legal) in.fail();
  }
};

class TemperatureScaling final : public internal::FrozenCalibrator<Model> {
 public:
  explicit TemperatureScaling(Parameters resolved) : FrozenCalibrator(margin::info(), std::move(resolved)) {}

 protected:
  [[nodiscard]] Model fresh() const override { return {}; }

  [[nodiscard]] double predict(ModelId model, double confidence) const override {
    const Model& own = state(model);
    return own.count > 0.0 ? sigmoid(log_odds(confidence) / own.temperature) : confidence;
  }

  void describe(ModelId model, Explanation& explanation) const override {
    const Model& own = state(model);
    explanation.observations = own.count;
    if (own.count > 0.0) {
      explanation.terms = {{"log odds of the stated confidence", log_odds(explanation.confidence)}, {"temperature", own.temperature}};
    } else {
      explanation.terms = {{"stated confidence (no calibration rows)", explanation.confidence}};
    }
  }
};

}  // namespace

const internal::Method internal::kTemperatureScaling = {
    info, [](Parameters resolved) -> std::unique_ptr<Calibrator> { return std::make_unique<TemperatureScaling>(std::move(resolved)); }};

}  // namespace margin
