// The Beta distribution, the same bits on every machine. Used for the intervals of probabilities that were learned.
#pragma once

#include "base/pair.h"

namespace margin::internal {

class Beta {
 public:
  // a, b > 0.
  Beta(double a, double b);

  // P(X <= x). Absolute error below 1e-12 for a, b up to 1e6.
  [[nodiscard]] double cdf(double x) const;
  // The x with P(X <= x) = p, p in (0, 1). Absolute error below 1e-10.
  [[nodiscard]] double quantile(double p) const { return quantiles(both(p))[0]; }
  // Two of them for little more than the time of one; each is what it is alone.
  [[nodiscard]] Pair quantiles(Pair p) const;

 private:
  // `front`: x^a (1-x)^b / B(a, b).
  [[nodiscard]] Pair cdf(Pair x, Pair front) const;
  [[nodiscard]] Pair front(Pair x) const;
  [[nodiscard]] Pair log_of_start(Pair p, double power) const;
  [[nodiscard]] Pair near_quantiles(Pair p) const;

  double a_;
  double b_;
  double log_scale_;  // -ln B(a, b)
};

}  // namespace margin::internal
