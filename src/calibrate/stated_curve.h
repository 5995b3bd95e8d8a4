// StatedCurve: the expert of margin_adaptive that fits a line to the log-odds a model states, as Platt scaling does, by a Newton step per
// outcome. What no band and no fixed root of the odds can follow, a slope of its own can; where nothing changes, it is as good as a curve
// fitted once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "margin/calibrator.h"
#include "margin/math.h"

namespace margin::internal {

class StatedCurve {
 public:
  struct Line {
    double slope = 0.3;
    double offset = 0.0;
  };
  struct Curve {
    Line line;
    // Decayed curvature of the log loss: sums of h x x, h x and h, with h = p (1 - p) and x the coordinate.
    double squares = 0.0;
    double products = 0.0;
    double count = 0.0;
  };
  static constexpr double kSlopeMax = 4.0;
  static constexpr double kOffsetMax = 10.0;
  static constexpr double kSumMax = 1e9;  // larger than any of the sums

  // `memory` in a model's observations.
  explicit StatedCurve(double memory) : keep_(1.0 - 1.0 / memory) {}

  void make_room(std::size_t models) { models_.resize(models); }
  // A newcomer starts at the pool's line, or its donor's, with no evidence behind it.
  void join(ModelId model) { models_[model] = {.line = pool_}; }
  void inherit(ModelId model, const StatedCurve& donor, ModelId donor_model) { models_[model] = {.line = donor.models_[donor_model].line}; }

  // ln(odds) to 0.006, and e to the line's power to 0.4%: a parabola between powers of two, which no forecast has to wait for long.
  [[nodiscard]] static double coordinate(double odds) {
    const auto bits = std::bit_cast<std::int64_t>(odds);
    const double f = std::bit_cast<double>((bits & kMantissa) | kOne) - 1.0;
    return kLn2 * (static_cast<double>((bits >> kMantissaBits) - kExponentOfOne) + f + kBulge * f * (1.0 - f));
  }
  [[nodiscard]] static double odds(const Line& line, double x) {
    const double z = kBitsPerNat * (line.slope * x + line.offset) + static_cast<double>(kExponentOfOne);  // between 900 and 1150
    const auto exponent = static_cast<std::int64_t>(z);
    const double f = z - static_cast<double>(exponent);
    return std::bit_cast<double>(exponent << kMantissaBits) * (1.0 + f - kBulge * f * (1.0 - f));
  }

  void learn(ModelId model, double x, double predicted, double outcome, double weight) {
    Curve& curve = models_[model];
    const double curvature = weight * std::max(kCurvatureMin, predicted * (1.0 - predicted));
    curve.squares = keep_ * curve.squares + curvature * x * x;
    curve.products = keep_ * curve.products + curvature * x;
    curve.count = keep_ * curve.count + curvature;
    // Damped, so that a first outcome moves the line by a step and confidences that are all alike have a solution.
    const double squares = curve.squares + 4.0 * kDamping;
    const double count = curve.count + kDamping;
    const double step = weight * (outcome - predicted) / (squares * count - curve.products * curve.products);
    curve.line.slope = clip(curve.line.slope + step * (count * x - curve.products), 0.0, kSlopeMax);
    curve.line.offset = clip(curve.line.offset + step * (squares - curve.products * x), -kOffsetMax, kOffsetMax);
    pool_.slope += kPoolRate * (curve.line.slope - pool_.slope);
    pool_.offset += kPoolRate * (curve.line.offset - pool_.offset);
  }

  // After an alarm of a clock the line stays, with the evidence of some three times the clock's observations behind it.
  [[nodiscard]] static Curve after_alarm(const Curve& curve, double clock) {
    const double most = kCurvatureKept * clock;
    return curve.count > most ? scaled(curve, most / curve.count) : curve;
  }
  [[nodiscard]] static Curve scaled(Curve curve, double part) {
    curve.squares *= part;
    curve.products *= part;
    curve.count *= part;
    return curve;
  }

  [[nodiscard]] static Line between(const Line& a, const Line& b, double share) {
    if (share >= 1.0) return b;
    return {a.slope + share * (b.slope - a.slope), a.offset + share * (b.offset - a.offset)};
  }
  // What two fits of one model are together, `share` of whose evidence is b's. Near its best line the log loss is a parabola with the
  // curvature that is kept, so the best of both solves the sum of their equations: damped as above, and then at the mean of the lines.
  [[nodiscard]] static Curve merged(const Curve& a, const Curve& b, double share) {
    const Line mean = between(a.line, b.line, share);
    Curve both{.line = mean, .squares = a.squares + b.squares, .products = a.products + b.products, .count = a.count + b.count};
    if (share <= 0.0 || share >= 1.0) return both;
    double by_slope = 0.0;
    double by_offset = 0.0;
    for (const Curve* each : {&a, &b}) {
      const double slope = each->line.slope - mean.slope;
      const double offset = each->line.offset - mean.offset;
      by_slope += each->squares * slope + each->products * offset;
      by_offset += each->products * slope + each->count * offset;
    }
    const double squares = both.squares + 4.0 * kDamping;
    const double count = both.count + kDamping;
    const double determinant = squares * count - both.products * both.products;
    both.line.slope = clip(mean.slope + (count * by_slope - both.products * by_offset) / determinant, 0.0, kSlopeMax);
    both.line.offset = clip(mean.offset + (squares * by_offset - both.products * by_slope) / determinant, -kOffsetMax, kOffsetMax);
    return both;
  }
  [[nodiscard]] double memory() const { return 1.0 / (1.0 - keep_); }

  // Sums of squares and their products, up to rounding: else the line's equations would have no solution.
  [[nodiscard]] static bool is_possible(const Curve& curve) {
    return curve.products * curve.products <= curve.squares * curve.count * (1.0 + 1e-9);
  }

  // The state: the running mean of the lines of those who were taught, and a model's curve.
  [[nodiscard]] Line& pool() { return pool_; }
  [[nodiscard]] const Line& pool() const { return pool_; }
  [[nodiscard]] Curve& model(ModelId model) { return models_[model]; }
  [[nodiscard]] const Curve& model(ModelId model) const { return models_[model]; }

 private:
  static constexpr double kCurvatureMin = 0.02;
  static constexpr double kDamping = 1.0;
  static constexpr double kPoolRate = 0.02;
  static constexpr double kCurvatureKept = 0.6;

  // A double is (1 + f) 2^e; log2(1 + f) is nearly f + kBulge f (1 - f), and 2^f nearly 1 + f - kBulge f (1 - f).
  static constexpr double kBulge = 0.344;
  static constexpr double kLn2 = 0.6931471805599453;
  static constexpr double kBitsPerNat = 1.4426950408889634;
  static constexpr int kMantissaBits = 52;
  static constexpr std::int64_t kMantissa = (std::int64_t{1} << kMantissaBits) - 1;
  static constexpr std::int64_t kExponentOfOne = 1023;
  static constexpr std::int64_t kOne = kExponentOfOne << kMantissaBits;

  double keep_;
  Line pool_;
  std::vector<Curve> models_;
};

}  // namespace margin::internal
