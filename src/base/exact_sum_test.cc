#include "margin/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "margin/random.h"

namespace margin {
namespace {

constexpr double kTiny = std::numeric_limits<double>::denorm_min();
constexpr double kLargest = 0x1.fffffffffffffp62;  // the largest double below 2^63

// The same sum by other means: digits of base 2^16 in units of 2^-1074, each a lazy signed counter, carried only when the sign is asked
// for.
class SchoolbookSum {
 public:
  void add(double x, int times) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(x), &exponent);  // |x| = fraction 2^exponent, fraction in [1/2, 1)
    auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 53));
    int shift = exponent - 53 + 1074;
    for (; shift < 0; ++shift) mantissa /= 2;  // a subnormal's mantissa ends in that many zeros
    const int sign = std::signbit(x) ? -times : times;
    // Bit by bit: slow, and free of the shifts and carries that are under test.
    for (int bit = 0; mantissa != 0; ++bit, mantissa /= 2) {
      if (mantissa % 2 != 0) digits_[static_cast<std::size_t>((shift + bit) / 16)] += sign * (std::int64_t{1} << ((shift + bit) % 16));
    }
  }
  [[nodiscard]] int sign() const {
    auto digits = digits_;
    for (std::size_t i = 0; i + 1 < digits.size(); ++i) {
      std::int64_t carry = digits[i] / 65536;
      if (digits[i] % 65536 < 0) --carry;
      digits[i] -= carry * 65536;
      digits[i + 1] += carry;
    }
    if (digits.back() < 0) return -1;
    return std::any_of(digits.begin(), digits.end(), [](std::int64_t digit) { return digit != 0; }) ? 1 : 0;
  }

 private:
  std::array<std::int64_t, 80> digits_{};
};

bool even(double x) { return (std::bit_cast<std::uint64_t>(x) & 1) == 0; }

// `rounded` is the nearest double to the sum: the sum lies between the midpoints to its neighbours, and on one only when it is even.
void expect_nearest(double rounded, const std::vector<double>& terms) {
  const auto twice_minus = [&](double neighbour) {
    SchoolbookSum sum;
    for (const double term : terms) sum.add(term, 2);
    sum.add(rounded, -1);
    sum.add(neighbour, -1);
    return sum.sign();
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const int below = twice_minus(std::nextafter(rounded, -infinity));
  const int above = twice_minus(std::nextafter(rounded, infinity));
  EXPECT_TRUE(below > 0 || (below == 0 && even(rounded))) << rounded << " is too large";
  EXPECT_TRUE(above < 0 || (above == 0 && even(rounded))) << rounded << " is too small";
}

double exact(const std::vector<double>& terms) {
  ExactSum sum;
  for (const double term : terms) sum.add(term);
  return sum.value();
}

double random_double(Random& random, int exponent_low, int exponent_high) {
  const int exponent = exponent_low + static_cast<int>(random.below(static_cast<std::uint64_t>(exponent_high - exponent_low)));
  const double x = std::ldexp(1.0 + random.uniform(), exponent);
  return random.chance(0.5) ? x : -x;
}

TEST(ExactSum, EmptyIsZero) {
  EXPECT_EQ(ExactSum{}.value(), 0.0);
  EXPECT_FALSE(std::signbit(ExactSum{}.value()));
}

TEST(ExactSum, OneTermComesBackUnchanged) {
  for (const double x :
       {1.0, -1.0, 0.1, kTiny, -kTiny, 0x1p-1022, 0x0.fffffffffffffp-1022, 0x1.fffffffffffffp-1022, kLargest, -kLargest, 1e-300}) {
    EXPECT_EQ(exact({x}), x) << x;
  }
  Random random(1);
  for (int i = 0; i < 100000; ++i) {
    const double x = random_double(random, -1074, 63);
    ASSERT_EQ(exact({x}), x);
  }
}

TEST(ExactSum, NothingIsLostToCancellation) {
  EXPECT_EQ(exact({kLargest, kTiny, -kLargest}), kTiny);
  EXPECT_EQ(exact({0x1p62, 1.0, 1e-20, -0x1p62, -1.0}), 1e-20);
  EXPECT_EQ(exact({kTiny, -kTiny}), 0.0);
}

TEST(ExactSum, TiesGoToEven) {
  const double ulp = 0x1p-52;
  EXPECT_EQ(exact({1.0, ulp / 2}), 1.0);
  EXPECT_EQ(exact({1.0 + ulp, ulp / 2}), 1.0 + 2 * ulp);
  EXPECT_EQ(exact({1.0, ulp / 2, kTiny}), 1.0 + ulp);
  EXPECT_EQ(exact({1.0 + ulp, ulp / 2, -kTiny}), 1.0 + ulp);
  EXPECT_EQ(exact({-1.0, -ulp / 2}), -1.0);
  EXPECT_EQ(exact({-1.0 - ulp, -ulp / 2}), -1.0 - 2 * ulp);
  EXPECT_EQ(exact({2.0 - ulp, ulp / 2}), 2.0);  // the carry runs into the exponent
}

TEST(ExactSum, SubnormalSumsAreExact) {
  EXPECT_EQ(exact({kTiny, kTiny, kTiny}), 3 * kTiny);
  EXPECT_EQ(exact({0x1p-1022, -kTiny}), 0x1p-1022 - kTiny);
  EXPECT_EQ(exact({0x1p-1023, 0x1p-1023}), 0x1p-1022);
}

TEST(ExactSum, RandomSumsAreTheNearestDouble) {
  Random random(2);
  for (int round = 0; round < 3000; ++round) {
    const auto span = static_cast<int>(1 + random.below(round % 3 == 0 ? 1100 : 120));
    const int low = -1074 + static_cast<int>(random.below(static_cast<std::uint64_t>(1137 - span + 1)));
    std::vector<double> terms(1 + random.below(12));
    for (double& term : terms) term = random_double(random, low, std::min(low + span, 63));
    if (random.chance(0.5)) terms.push_back(-terms.front());
    expect_nearest(exact(terms), terms);
    if (HasFailure()) FAIL() << "in round " << round;
  }
}

TEST(ExactSum, IntegersAgreeWith128BitArithmetic) {
  Random random(3);
  ExactSum sum;
  __extension__ using Int128 = __int128;
  Int128 reference = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = std::trunc(random_double(random, 0, 63));
    sum.add(x);
    reference += static_cast<Int128>(x);
    ASSERT_EQ(sum.value(), static_cast<double>(reference));  // both round to nearest even
  }
}

TEST(ExactSum, OrderAndGroupingDoNotMatter) {
  Random random(4);
  std::vector<double> terms(500);
  for (double& term : terms) term = random_double(random, -200, 60);
  ExactSum forward;
  for (const double term : terms) forward.add(term);
  for (int round = 0; round < 20; ++round) {
    random.shuffle(std::span(terms));
    ExactSum left;
    ExactSum right;
    for (std::size_t i = 0; i < terms.size(); ++i) (i < 123 ? left : right).add(terms[i]);
    left.add(right);
    ASSERT_EQ(left, forward);
  }
}

TEST(ExactSum, SubtractUndoesAddBitForBit) {
  Random random(5);
  ExactSum sum;
  sum.add(-0.3);
  const ExactSum before = sum;
  std::vector<double> terms(1000);
  for (double& term : terms) term = random_double(random, -1074, 63);
  for (const double term : terms) sum.add(term);
  EXPECT_NE(sum, before);
  for (const double term : terms) sum.subtract(term);
  EXPECT_EQ(sum, before);
}

TEST(ExactSum, ASlidingWindowLeavesNoResidueAfterTenMillionSteps) {
  Random random(6);
  std::array<double, 200> window{};
  ExactSum sum;
  double naive = 0.0;
  for (std::size_t step = 0; step < 10'000'000; ++step) {
    double& slot = window[step % window.size()];
    const double next = random.uniform();
    sum.subtract(slot);
    sum.add(next);
    naive += next - slot;
    slot = next;
  }
  ExactSum fresh;
  double fresh_naive = 0.0;
  for (const double x : window) {
    fresh.add(x);
    fresh_naive += x;
  }
  EXPECT_EQ(sum, fresh);
  EXPECT_NE(naive, fresh_naive);  // what the exact sum is for
}

TEST(ExactSum, WordsRestoreTheSum) {
  ExactSum sum;
  sum.add(-1e-310);
  sum.add(3e18);
  ExactSum copy;
  copy.set_words(sum.words());
  EXPECT_EQ(copy, sum);
  EXPECT_EQ(copy.value(), sum.value());
}

TEST(ExactSumDeathTest, NumbersItCannotHoldStopTheProgram) {
  ExactSum sum;
  EXPECT_DEATH(sum.add(0x1p63), "below 2\\^63");
  EXPECT_DEATH(sum.add(std::numeric_limits<double>::quiet_NaN()), "below 2\\^63");
  EXPECT_DEATH(sum.subtract(-std::numeric_limits<double>::infinity()), "below 2\\^63");
}

}  // namespace
}  // namespace margin
