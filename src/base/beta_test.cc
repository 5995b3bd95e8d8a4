// The Beta distribution against its closed forms: powers, the arcsine law, and binomial sums for whole parameters.
#include "base/beta.h"

#include <gtest/gtest.h>

#include <cmath>

namespace margin::internal {
namespace {

// P(X <= x) for whole a and b: at least a of a + b - 1 draws fall below x.
double by_binomial(int a, int b, double x) {
  const int n = a + b - 1;
  double sum = 0.0;
  for (int k = a; k <= n; ++k) {
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(x) + (n - k) * std::log1p(-x));
  }
  return sum;
}

TEST(Beta, CdfEqualsItsClosedForms) {
  for (const double x : {1e-6, 0.01, 0.2, 0.5, 0.77, 0.99, 1.0 - 1e-6}) {
    EXPECT_NEAR(Beta(1.0, 1.0).cdf(x), x, 1e-12);
    EXPECT_NEAR(Beta(3.7, 1.0).cdf(x), std::pow(x, 3.7), 1e-12);
    EXPECT_NEAR(Beta(1.0, 0.4).cdf(x), 1.0 - std::pow(1.0 - x, 0.4), 1e-12);
    EXPECT_NEAR(Beta(0.5, 0.5).cdf(x), 2.0 / M_PI * std::asin(std::sqrt(x)), 1e-12);
    EXPECT_NEAR(Beta(7, 3).cdf(x), by_binomial(7, 3, x), 1e-11);
    EXPECT_NEAR(Beta(60, 140).cdf(x), by_binomial(60, 140, x), 1e-11);
    EXPECT_NEAR(Beta(2.5, 9.5).cdf(x) + Beta(9.5, 2.5).cdf(1.0 - x), 1.0, 1e-12);
  }
  EXPECT_EQ(Beta(2.0, 3.0).cdf(0.0), 0.0);
  EXPECT_EQ(Beta(2.0, 3.0).cdf(1.0), 1.0);
}

TEST(Beta, QuantileTurnsTheCdfAround) {
  for (const double a : {0.5, 1.0, 3.3, 45.0, 800.0}) {
    for (const double b : {0.5, 2.0, 17.5, 3000.0}) {
      for (const double p : {0.001, 0.05, 0.5, 0.95, 0.999}) {
        const double x = Beta(a, b).quantile(p);
        ASSERT_GE(x, 0.0);
        ASSERT_LE(x, 1.0);
        EXPECT_NEAR(Beta(a, b).cdf(x), p, 1e-9) << a << " " << b << " " << p;
      }
    }
  }
  EXPECT_NEAR(Beta(1.0, 1.0).quantile(0.3), 0.3, 1e-10);
  EXPECT_NEAR(Beta(2.0, 1.0).quantile(0.25), 0.5, 1e-10);
  EXPECT_NEAR(Beta(0.5, 0.5).quantile(0.05), std::pow(std::sin(M_PI * 0.05 / 2.0), 2), 1e-10);
}

}  // namespace
}  // namespace margin::internal
