// The Beta distribution, the same bits on every machine. Used for the intervals of probabilities that were learned.
#pragma once

namespace margin::internal {

class Beta {
 public:
  // a, b > 0.
  Beta(double a, double b);

  // P(X <= x). Absolute error below 1e-12 for a, b up to 1e6.
  [[nodiscard]] double cdf(double x) const;
  // The x with P(X <= x) = p, p in (0, 1). Absolute error below 1e-10.
  [[nodiscard]] double quantile(double p) const;

 private:
  // `front`: x^a (1-x)^b / B(a, b).
  [[nodiscard]] double cdf(double x, double front) const;
  [[nodiscard]] double near_quantile(double p) const;

  double a_;
  double b_;
  double log_scale_;  // -ln B(a, b)
  // Where the density is infinite at an end: what near_quantile() needs of the power laws at the ends.
  double low_part_ = 0.0;
  double parts_ = 0.0;
};

}  // namespace margin::internal
