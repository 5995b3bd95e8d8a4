// The normal distribution with the same bits on every machine. Used by the simulations, whose files must not depend on the C library.
#pragma once

namespace margin::dataset {

[[nodiscard]] double normal_density(double x);
// P(N(0,1) < x); absolute error below 1e-15. 0 below -8.3 and 1 above 8.3.
[[nodiscard]] double normal_cdf(double x);
// The x with normal_cdf(x) = p, within 1e-12 where that is well conditioned; -8.3 and 8.3 at the ends. 0 <= p <= 1.
[[nodiscard]] double normal_quantile(double p);

}  // namespace margin::dataset
