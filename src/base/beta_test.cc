// The Beta distribution against its closed forms: powers, the arcsine law, and binomial sums for whole parameters.
#include "base/beta.h"

#include <gtest/gtest.h>

#include <cmath>

#include "margin/random.h"

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

TEST(Beta, TwoQuantilesAreWhatEachIsAlone) {
  Random random(9);
  for (int round = 0; round < 2000; ++round) {
    const double n = 300.0 * random.uniform() * random.uniform();
    const double right = n * random.uniform();
    const Beta beta(right + 0.5, n - right + 0.5);
    const Pair p = {0.001 + 0.998 * random.uniform(), 0.001 + 0.998 * random.uniform()};
    const Pair x = beta.quantiles(p);
    EXPECT_EQ(x[0], beta.quantile(p[0]));
    EXPECT_EQ(x[1], beta.quantile(p[1]));
  }
}

// As one quantile after the other gave them: promises that were made stay what they are.
TEST(Beta, QuantilesKeepTheirBits) {
  struct Case {
    double a, b, low, high;
  };
  for (const Case& c : {Case{0.5, 0.5, 0x1.936daf406e8ddp-8, 0x1.fcd924a17f22ep-1},
                        {0.5, 7.25, 0x1.2648259f9414ap-12, 0x1.ead4469f4971p-3},
                        {1.0, 1.0, 0x1.99999999999a9p-5, 0x1.e666666666665p-1},
                        {3.3, 0.7, 0x1.e273047b165cep-2, 0x1.fe07ef5f18ca7p-1},
                        {12.5, 4.5, 0x1.19141b57e2d81p-1, 0x1.c75770c71b18ep-1},
                        {160.5, 40.5, 0x1.80396ed6f3af2p-1, 0x1.afb6eef1785eap-1},
                        {1e5, 3e4, 0x1.88dc605299894p-1, 0x1.8ad43cb9e7607p-1},
                        {1e-3, 1e-3, 0x1p-41, 0x1.ffffffffffp-1}}) {
    const Pair ends = Beta(c.a, c.b).quantiles(Pair{0.05, 1.0 - 0.05});
    EXPECT_EQ(ends[0], c.low) << c.a << " " << c.b;
    EXPECT_EQ(ends[1], c.high) << c.a << " " << c.b;
  }
}

}  // namespace
}  // namespace margin::internal
