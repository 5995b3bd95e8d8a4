// The reference is the C library's long double (64 bits of mantissa on x86, 113 elsewhere), whose own error is below 2^-10 units of a
// double.
#include "margin/math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "margin/random.h"

namespace margin {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();
constexpr double kSmallestNormal = std::numeric_limits<double>::min();
constexpr double kMax = std::numeric_limits<double>::max();

static_assert(std::numeric_limits<long double>::digits >= 64, "the reference needs more bits than a double has");

// Distance in units of the last place that a double of the reference's size has.
double error_ulp(double value, long double reference) {
  if (static_cast<long double>(value) == reference) return 0.0;
  const int exponent = std::max(std::ilogb(reference), -1022) - 52;
  return static_cast<double>(std::fabs(static_cast<long double>(value) - reference) / std::ldexp(1.0L, exponent));
}

struct Worst {
  double ulp = 0.0;
  double at = 0.0;
  void see(double x, double value, long double reference) {
    const double error = error_ulp(value, reference);
    if (!(error <= ulp)) {
      ulp = error;
      at = x;
    }
  }
};

constexpr int kGrid = 1'000'000;

template <class Function>
void for_grid(double low, double high, Function&& function) {
  for (int i = 0; i <= kGrid; ++i) function(low + (high - low) * i / kGrid);
}

// Any finite double, by its bits.
template <class Function>
void for_random_bits(std::uint64_t seed, Function&& function) {
  Random random(seed);
  for (int i = 0; i < kGrid; ++i) {
    const auto x = std::bit_cast<double>(random.bits());
    if (std::isfinite(x)) function(x);
  }
}

template <class Function>
void expect_monotone(double low, double high, Function&& function) {
  double before = -kInfinity;
  for_grid(low, high, [&](double x) {
    const double now = function(x);
    ASSERT_GE(now, before) << "at " << x;
    before = now;
  });
}

#define EXPECT_WORST(worst, bound) EXPECT_LT((worst).ulp, bound) << "at " << std::hexfloat << (worst).at

TEST(Math, ExpIsWithinOneUnitInTheLastPlace) {
  Worst worst;
  const auto see = [&](double x) { worst.see(x, margin::exp(x), std::exp(static_cast<long double>(x))); };
  for_grid(-1.0, 1.0, see);
  for_grid(-40.0, 40.0, see);
  for_grid(-708.0, 709.78, see);
  for_random_bits(1, [&](double x) {
    if (x > -708.0 && x < 709.78) see(x);
  });
  EXPECT_WORST(worst, 1.0);
}

TEST(Math, ExpIsWithinOneUnitWhereTheResultIsSubnormal) {
  Worst worst;
  for_grid(-745.13, -708.0, [&](double x) { worst.see(x, margin::exp(x), std::exp(static_cast<long double>(x))); });
  EXPECT_WORST(worst, 1.0);
}

TEST(Math, Expm1IsWithinTwoUnitsInTheLastPlace) {
  Worst worst;
  const auto see = [&](double x) { worst.see(x, margin::expm1(x), std::expm1(static_cast<long double>(x))); };
  for_grid(-1.0, 1.0, see);
  for_grid(-1e-5, 1e-5, see);
  for_grid(-50.0, 709.78, see);
  for_random_bits(2, [&](double x) {
    if (x < 709.78) see(x);
  });
  EXPECT_WORST(worst, 2.0);
}

TEST(Math, LogIsWithinOneUnitInTheLastPlace) {
  Worst worst;
  const auto see = [&](double x) { worst.see(x, margin::log(x), std::log(static_cast<long double>(x))); };
  for_grid(0.5, 2.0, see);
  for_grid(0.999, 1.001, see);
  for_grid(1e-6, 1000.0, see);
  for_random_bits(3, [&](double x) { see(std::fabs(x)); });
  Random random(4);
  for (int i = 0; i < kGrid; ++i) see(std::bit_cast<double>(random.bits() >> (12 + random.below(50))));  // subnormals
  EXPECT_WORST(worst, 1.0);
}

TEST(Math, Log1pIsWithinTwoUnitsInTheLastPlace) {
  Worst worst;
  const auto see = [&](double x) { worst.see(x, margin::log1p(x), std::log1p(static_cast<long double>(x))); };
  for_grid(-0.999999, 1.0, see);
  for_grid(-1e-5, 1e-5, see);
  for_grid(1.0, 1000.0, see);
  for (double gap = 0.5; gap > 1e-16; gap *= 0.9999) see(gap - 1.0);
  for_random_bits(5, [&](double x) {
    if (x > -1.0) see(x);
  });
  EXPECT_WORST(worst, 2.0);
}

TEST(Math, SigmoidAndLogitAreWithinAFewUnits) {
  Worst sigmoid_worst;
  Worst logit_worst;
  for_grid(-700.0, 700.0, [&](double x) { sigmoid_worst.see(x, sigmoid(x), 1.0L / (1.0L + std::exp(-static_cast<long double>(x)))); });
  // Near 1/2 the quotient's rounding is magnified, as the result passes 0; away from it the error is that of log.
  for_grid(1e-6, 0.45,
           [&](double p) { logit_worst.see(p, logit(p), std::log(static_cast<long double>(p) / (1.0L - static_cast<long double>(p)))); });
  EXPECT_WORST(sigmoid_worst, 3.0);
  EXPECT_WORST(logit_worst, 8.0);
  for_grid(-30.0, 30.0, [](double x) { ASSERT_NEAR(logit(sigmoid(x)), x, 1e-15 * std::exp(std::fabs(x)) + 1e-13) << x; });
}

TEST(Math, FunctionsAreMonotoneOnDenseGrids) {
  expect_monotone(-1.0, 1.0, [](double x) { return margin::exp(x); });
  expect_monotone(-745.2, 709.9, [](double x) { return margin::exp(x); });
  expect_monotone(0.0, 2.0, [](double x) { return margin::log(x); });
  expect_monotone(0.0, 1e6, [](double x) { return margin::log(x); });
  expect_monotone(-1.0, 2.0, [](double x) { return margin::expm1(x); });
  expect_monotone(-1.0, 2.0, [](double x) { return margin::log1p(x); });
  expect_monotone(-50.0, 50.0, [](double x) { return sigmoid(x); });
}

TEST(Math, ExpAtItsEdges) {
  EXPECT_EQ(margin::exp(0.0), 1.0);
  EXPECT_EQ(margin::exp(-0.0), 1.0);
  EXPECT_EQ(margin::exp(kTiny), 1.0);
  EXPECT_EQ(margin::exp(1.0), 0x1.5bf0a8b145769p+1);
  EXPECT_EQ(margin::exp(kInfinity), kInfinity);
  EXPECT_EQ(margin::exp(-kInfinity), 0.0);
  EXPECT_TRUE(std::isnan(margin::exp(kNaN)));
  const double last_finite = 0x1.62e42fefa39efp+9;
  EXPECT_TRUE(std::isfinite(margin::exp(last_finite)));
  EXPECT_EQ(margin::exp(std::nextafter(last_finite, kInfinity)), kInfinity);
  EXPECT_EQ(margin::exp(kMax), kInfinity);
  const double last_positive = -0x1.74910d52d3051p+9;
  EXPECT_EQ(margin::exp(last_positive), kTiny);
  EXPECT_EQ(margin::exp(std::nextafter(last_positive, -kInfinity)), 0.0);
  EXPECT_EQ(margin::exp(-kMax), 0.0);
}

TEST(Math, Expm1AtItsEdges) {
  EXPECT_EQ(margin::expm1(0.0), 0.0);
  EXPECT_EQ(margin::expm1(kTiny), kTiny);
  EXPECT_EQ(margin::expm1(-kTiny), -kTiny);
  EXPECT_EQ(margin::expm1(kSmallestNormal), kSmallestNormal);
  EXPECT_EQ(margin::expm1(-kInfinity), -1.0);
  EXPECT_EQ(margin::expm1(kInfinity), kInfinity);
  EXPECT_EQ(margin::expm1(710.0), kInfinity);
  EXPECT_TRUE(std::isnan(margin::expm1(kNaN)));
}

TEST(Math, LogAtItsEdges) {
  EXPECT_EQ(margin::log(1.0), 0.0);
  EXPECT_EQ(margin::log(0.0), -kInfinity);
  EXPECT_EQ(margin::log(-0.0), -kInfinity);
  EXPECT_EQ(margin::log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(margin::log(-kTiny)));
  EXPECT_TRUE(std::isnan(margin::log(-kInfinity)));
  EXPECT_TRUE(std::isnan(margin::log(kNaN)));
  EXPECT_EQ(margin::log(kTiny), -0x1.74385446d71c3p+9);
  EXPECT_EQ(margin::log(2.0), 0x1.62e42fefa39efp-1);
  EXPECT_EQ(margin::log(kMax), 0x1.62e42fefa39efp+9);
}

TEST(Math, Log1pAtItsEdges) {
  EXPECT_EQ(margin::log1p(0.0), 0.0);
  EXPECT_EQ(margin::log1p(kTiny), kTiny);
  EXPECT_EQ(margin::log1p(-kTiny), -kTiny);
  EXPECT_EQ(margin::log1p(-1.0), -kInfinity);
  EXPECT_EQ(margin::log1p(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(margin::log1p(std::nextafter(-1.0, -2.0))));
  EXPECT_TRUE(std::isnan(margin::log1p(kNaN)));
}

TEST(Math, SigmoidStaysInTheUnitInterval) {
  for (const double x : {-kInfinity, -kMax, -800.0, -745.0, -1.0, 0.0, 1.0, 745.0, 800.0, kMax, kInfinity}) {
    EXPECT_GE(sigmoid(x), 0.0) << x;
    EXPECT_LE(sigmoid(x), 1.0) << x;
  }
  EXPECT_EQ(sigmoid(0.0), 0.5);
  EXPECT_EQ(sigmoid(-kInfinity), 0.0);
  EXPECT_EQ(sigmoid(kInfinity), 1.0);
  EXPECT_EQ(logit(0.0), -kInfinity);
  EXPECT_EQ(logit(1.0), kInfinity);
  EXPECT_EQ(logit(0.5), 0.0);
}

TEST(Math, PowerMultiplies) {
  EXPECT_EQ(power(2.0, 10), 1024.0);
  EXPECT_EQ(power(0.0, 0), 1.0);
  EXPECT_EQ(power(-3.0, 3), -27.0);
  EXPECT_NEAR(power(0.96, 100), 0.016870319358849588, 1e-16);
  static_assert(power(0.5, 1074) == kTiny);
}

TEST(Math, ClipKeepsTheInterval) {
  EXPECT_EQ(clip01(-0.5), 0.0);
  EXPECT_EQ(clip01(1.5), 1.0);
  EXPECT_EQ(clip01(0.25), 0.25);
  EXPECT_EQ(clip(5.0, -1.0, 3.0), 3.0);
}

}  // namespace
}  // namespace margin
