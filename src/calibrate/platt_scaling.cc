// platt_scaling: a logistic curve of the stated confidence per model, fitted on calibration rows (weighed by their weights) and frozen.
// docs/calibration.md#platt_scaling
#include <cmath>
#include <limits>

#include "calibrate/per_model.h"
#include "calibrate/registry.h"
#include "margin/math.h"

namespace margin {
namespace {

// Strength of the penalty on slope and intercept: small enough not to matter, large enough that separable rows have an optimum.
constexpr double kRidge = 1e-6;

const CalibratorInfo& info() {
  static const CalibratorInfo kInfo{
      .identifier = "platt_scaling", .design_time = true, .summary = "logistic curve of stated confidence, fitted at design time"};
  return kInfo;
}

struct Curve {
  double slope = 0.0;      // a
  double intercept = 0.0;  // b
};

// log(1 + e^z) without overflow.
double softplus(double z) { return (z > 0.0 ? z : 0.0) + log1p(exp(-std::fabs(z))); }

// The penalised log loss, written around the mean confidence: z = slope (c - center) + height. There the two unknowns are nearly
// independent, so the Newton step stays accurate when all confidences are alike. intercept = height - slope * center.
class Loss {
 public:
  explicit Loss(std::span<const Observation> rows) : rows_(rows) {
    double weight = 0.0;
    double confidence = 0.0;
    for (const Observation& row : rows) {
      weight += row.weight;
      confidence += row.weight * row.confidence;
    }
    center_ = confidence / weight;
  }

  struct Point {
    double slope = 0.0;
    double height = 0.0;
  };

  [[nodiscard]] Curve curve(Point at) const { return {at.slope, at.height - at.slope * center_}; }

  [[nodiscard]] double value(Point at) const {
    const Curve line = curve(at);
    double sum = 0.5 * kRidge * (line.slope * line.slope + line.intercept * line.intercept);
    for (const Observation& row : rows_) {
      const double z = at.slope * (row.confidence - center_) + at.height;
      sum += row.weight * (softplus(z) - row.outcome * z);
    }
    return sum;
  }

  // What to add to reach the optimum if the loss were quadratic: -inverse(second derivatives) * gradient.
  [[nodiscard]] Point newton_step(Point at) const {
    const double intercept = curve(at).intercept;
    double g_slope = kRidge * (at.slope - center_ * intercept);
    double g_height = kRidge * intercept;
    double h_slope = kRidge * (1.0 + center_ * center_);
    double h_both = -kRidge * center_;
    double h_height = kRidge;
    for (const Observation& row : rows_) {
      const double x = row.confidence - center_;
      const double p = sigmoid(at.slope * x + at.height);
      const double residual = row.weight * (p - row.outcome);
      const double curvature = row.weight * p * (1.0 - p);
      g_slope += residual * x;
      g_height += residual;
      h_slope += curvature * x * x;
      h_both += curvature * x;
      h_height += curvature;
    }
    const double determinant = h_slope * h_height - h_both * h_both;
    return {(h_both * g_height - h_height * g_slope) / determinant, (h_both * g_slope - h_slope * g_height) / determinant};
  }

 private:
  std::span<const Observation> rows_;
  double center_ = 0.0;
};

// Newton's method; a step that would raise the loss is halved until it does not. The loss is strictly convex, so this converges for
// every set of rows: separable ones, one class only, one confidence only.
Curve best_curve(std::span<const Observation> rows) {
  constexpr int kStepsMax = 1000;
  constexpr int kHalvingsMax = 60;
  constexpr double kPrecision = 1e-13;
  constexpr double kRounding = 1e-13;  // a rise this small, relative to the loss, is rounding
  const Loss loss(rows);
  Loss::Point at;
  double value = loss.value(at);
  for (int step = 0; step < kStepsMax; ++step) {
    Loss::Point move = loss.newton_step(at);
    Loss::Point next = at;
    double next_value = value;
    for (int halvings = 0; halvings < kHalvingsMax; ++halvings) {
      next = {at.slope + move.slope, at.height + move.height};
      next_value = loss.value(next);
      if (next_value <= value + kRounding * value) break;
      move = {0.5 * move.slope, 0.5 * move.height};
    }
    at = next;
    value = next_value;
    if (std::fabs(move.slope) <= kPrecision * (1.0 + std::fabs(at.slope)) &&
        std::fabs(move.height) <= kPrecision * (1.0 + std::fabs(at.height)))
      break;
  }
  return loss.curve(at);
}

struct Model {
  Curve curve;
  double count = 0.0;  // sum of the weights of its calibration rows

  void fit(std::span<const Observation> rows) {
    for (const Observation& row : rows) count += row.weight;
    curve = best_curve(rows);
  }

  void save(internal::Encoder& out) const {
    out.real(curve.slope);
    out.real(curve.intercept);
    out.real(count);
  }

  void load(internal::Decoder& in) {
    curve = {.slope = in.real(), .intercept = in.real()};
    count = in.real();
    const bool legal = std::isfinite(curve.slope) && std::isfinite(curve.intercept) && count >= 0.0 && std::isfinite(count) &&
                       (count > 0.0 || (curve.slope == 0.0 && curve.intercept == 0.0));
    if (!legal) in.fail();
  }
};

class PlattScaling final : public internal::FrozenCalibrator<Model> {
 public:
  explicit PlattScaling(Parameters resolved) : FrozenCalibrator(margin::info(), std::move(resolved)) {}

 protected:
  [[nodiscard]] Model fresh() const override { return {}; }

  [[nodiscard]] double predict(ModelId model, double confidence) const override {
    const Model& own = state(model);
    return own.count > 0.0 ? sigmoid(own.curve.slope * confidence + own.curve.intercept) : confidence;
  }

  void describe(ModelId model, Explanation& explanation) const override {
    const Model& own = state(model);
    explanation.observations = own.count;
    if (own.count > 0.0) {
      explanation.terms = {{"slope", own.curve.slope}, {"intercept", own.curve.intercept}};
    } else {
      explanation.terms = {{"stated confidence (no calibration rows)", explanation.confidence}};
    }
  }
};

}  // namespace

const internal::Method internal::kPlattScaling = {
    info, [](Parameters resolved) -> std::unique_ptr<Calibrator> { return std::make_unique<PlattScaling>(std::move(resolved)); }};

}  // namespace margin
