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

// By halving an interval on the incomplete beta function with 40 digits (mpmath); the largest by SciPy. From all starts: power laws at
// either end, both at once, and the normal law.
TEST(Beta, QuantilesAreThoseOfManyDigits) {
  struct Case {
    double a, b, low, high;
  };
  for (const Case& c : {Case{0.5, 0.5, 0.006155829702431137587, 0.99384417029756885218},
                        {0.51, 0.52, 0.0065232344273339336261, 0.99254326520185074238},
                        {0.9, 0.6, 0.060312953988831993789, 0.99231965241771259637},
                        {0.5, 7.25, 0.00028064901741677540903, 0.23966269658665634106},
                        {0.5, 60.5, 0.000032631053543902216451, 0.031375931439359243856},
                        {1.5, 0.5, 0.22851981380632871738, 0.99845708069732705411},
                        {3.3, 0.7, 0.4711418819548193422, 0.99615428958749849888},
                        {1.0, 1.0, 0.05, 0.95},
                        {2.5, 1.01, 0.29998854989424175028, 0.97902211660152620043},
                        {12.5, 4.5, 0.54898152778461920137, 0.88933899336329759936},
                        {160.5, 40.5, 0.75043817876743695108, 0.84319254586824711262},
                        {1e5, 3e4, 0.767306337435676, 0.7711504914220473}}) {
    const Pair ends = Beta(c.a, c.b).quantiles(Pair{0.05, 1.0 - 0.05});
    EXPECT_NEAR(ends[0], c.low, 1e-12) << c.a << " " << c.b;
    EXPECT_NEAR(ends[1], c.high, 1e-12) << c.a << " " << c.b;
  }
}

// Nearly all of it is at the ends, closer than a double can tell at one of them.
TEST(Beta, QuantilesOfHardlyAnyEvidenceAreTheEnds) {
  const Pair ends = Beta(1e-3, 1e-3).quantiles(Pair{0.05, 0.95});
  EXPECT_NEAR(ends[0], 0.0, 1e-10);
  EXPECT_NEAR(ends[1], 1.0, 1e-10);
}

}  // namespace
}  // namespace margin::internal
