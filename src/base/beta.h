// The Beta distribution, the same bits on every machine. Used for the interval of a decision's probability.
#pragma once

namespace margin::internal {

// P(X <= x) for X ~ Beta(a, b); a, b > 0. Absolute error below 1e-12 for a, b up to 1e6.
[[nodiscard]] double beta_cdf(double a, double b, double x);

// The x with P(X <= x) = p, p in (0, 1). Absolute error below 1e-10.
[[nodiscard]] double beta_quantile(double a, double b, double p);

}  // namespace margin::internal
