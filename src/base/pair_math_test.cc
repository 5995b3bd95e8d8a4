// The functions of pairs against those of single numbers: the same bits, whatever the other number is.
#include "base/pair_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "margin/math.h"
#include "margin/random.h"

namespace margin::internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Ends of ranges and what lies beside them, then numbers of every size and any bits.
std::vector<double> numbers() {
  std::vector<double> numbers;
  for (const double edge : {0.0, 1.0, 2.0, 0.5, M_SQRT2, M_SQRT1_2, M_SQRT2 - 1.0, 1.0 - M_SQRT1_2, 700.0, 709.78, 745.13, kInfinity,
                            std::numeric_limits<double>::min(), std::numeric_limits<double>::denorm_min()}) {
    for (const double x : {edge, std::nextafter(edge, 2.0 * edge + 1.0), std::nextafter(edge, -1.0)}) {
      numbers.push_back(x);
      numbers.push_back(-x);
    }
  }
  numbers.push_back(std::numeric_limits<double>::quiet_NaN());
  Random random(3);
  for (int i = 0; i < 20'000; ++i) {
    numbers.push_back(random.uniform());
    numbers.push_back(std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(2000)) - 1000));
    numbers.push_back(1500.0 * random.uniform() - 750.0);
    numbers.push_back(std::bit_cast<double>(random.bits()));
  }
  return numbers;
}

template <class OfPair, class OfOne>
void expect_same(const OfPair& of_pair, const OfOne& of_one) {
  const auto same = [](double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  const std::vector<double> x = numbers();
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (const double other : {x[x.size() - 1 - i], 0.25}) {
      const Pair first = of_pair(Pair{x[i], other});
      const Pair second = of_pair(Pair{other, x[i]});
      ASSERT_TRUE(same(first[0], of_one(x[i])) && same(first[1], of_one(other))) << x[i] << " " << other;
      ASSERT_TRUE(same(second[0], of_one(other)) && same(second[1], of_one(x[i]))) << other << " " << x[i];
    }
  }
}

TEST(PairMath, ExpHasTheBitsOfOne) {
  expect_same([](Pair x) { return exp(x); }, [](double x) { return margin::exp(x); });
}

TEST(PairMath, LogHasTheBitsOfOne) {
  expect_same([](Pair x) { return log(x); }, [](double x) { return margin::log(x); });
}

TEST(PairMath, Log1pHasTheBitsOfOne) {
  expect_same([](Pair x) { return log1p(x); }, [](double x) { return margin::log1p(x); });
}

}  // namespace
}  // namespace margin::internal
