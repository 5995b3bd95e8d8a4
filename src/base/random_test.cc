// The expected words come from a separate implementation of xoshiro256** and splitmix64, itself checked against their authors' vectors.
#include "margin/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace margin {
namespace {

// Chi-square of counts against equal expectation.
double chi_square(const std::vector<int>& counts, double expected) {
  double sum = 0.0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(Random, GivesTheKnownStream) {
  const std::map<std::uint64_t, std::array<std::uint64_t, 4>> expected = {
      {0, {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c}},
      {42, {0x15780b2e0c2ec716, 0x6104d9866d113a7e, 0xae17533239e499a1, 0xecb8ad4703b360a1}},
      {~std::uint64_t{0}, {0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f}},
  };
  for (const auto& [seed, words] : expected) {
    Random random(seed);
    for (const std::uint64_t word : words) EXPECT_EQ(random.bits(), word) << "seed " << seed;
  }
}

TEST(Random, AStreamIsNamedBySeedAndIndex) {
  Random random = Random::stream(7, 5);
  EXPECT_EQ(random.bits(), 0x49ce11985798f342U);
  EXPECT_EQ(random.bits(), 0x8602941be8cb946dU);
}

TEST(Random, UniformIsTheTopBitsAsAFraction) {
  Random random(42);
  EXPECT_EQ(random.uniform(), 0x1.5780b2e0c2ec0p-4);
  EXPECT_EQ(random.uniform(), 0.3789802506626686);
  EXPECT_EQ(random.uniform(), 0.6800434110281394);
  for (int i = 0; i < 100000; ++i) {
    const double u = random.uniform();
    ASSERT_TRUE(u >= 0.0 && u < 1.0 && u * 0x1p53 == std::floor(u * 0x1p53));
  }
}

// 99.9% of fair generators stay below the bounds of the chi-square tests; the seeds are fixed, so they pass always or never.
TEST(Random, UniformFillsItsBinsEvenly) {
  Random random(11);
  std::vector<int> counts(100);
  for (int i = 0; i < 1'000'000; ++i) ++counts[static_cast<std::size_t>(random.uniform() * 100)];
  EXPECT_LT(chi_square(counts, 10000.0), 148.2);  // 99 degrees of freedom
}

TEST(Random, BelowIsUnbiased) {
  Random random(12);
  std::vector<int> counts(7);
  for (int i = 0; i < 700'000; ++i) ++counts.at(random.below(7));
  EXPECT_LT(chi_square(counts, 100000.0), 22.5);  // 6 degrees of freedom

  // A bound of 3/4 of the range: taking remainders without refusal would hit the lowest third twice as often.
  const std::uint64_t bound = std::uint64_t{3} << 62;
  int lowest_third = 0;
  for (int i = 0; i < 100'000; ++i) lowest_third += random.below(bound) < bound / 3 ? 1 : 0;
  EXPECT_NEAR(lowest_third, 33333, 5 * std::sqrt(100000 * 2.0 / 9));
  EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, ChanceHasItsProbability) {
  Random random(13);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) hits += random.chance(0.3) ? 1 : 0;
  EXPECT_NEAR(hits, 30000, 5 * std::sqrt(100000 * 0.21));
  EXPECT_FALSE(random.chance(0.0));
  EXPECT_TRUE(random.chance(1.0));
}

TEST(Random, NormalHasTheNormalsMomentsAndTails) {
  Random random(14);
  const int n = 1'000'000;
  double sum = 0.0;
  double squares = 0.0;
  double cubes = 0.0;
  double fourths = 0.0;
  int beyond_two = 0;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    cubes += x * x * x;
    fourths += x * x * x * x;
    beyond_two += std::fabs(x) > 1.959963984540054 ? 1 : 0;
  }
  const double sigma = 5 / std::sqrt(n);  // five standard errors, each moment's variance beside it
  EXPECT_NEAR(sum / n, 0.0, sigma);
  EXPECT_NEAR(squares / n, 1.0, sigma * std::sqrt(2.0));
  EXPECT_NEAR(cubes / n, 0.0, sigma * std::sqrt(15.0));
  EXPECT_NEAR(fourths / n, 3.0, sigma * std::sqrt(96.0));
  EXPECT_NEAR(beyond_two / static_cast<double>(n), 0.05, sigma * std::sqrt(0.05 * 0.95));
}

TEST(Random, ShuffleReachesEveryPermutationEquallyOften) {
  Random random(15);
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 240'000; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    random.shuffle(std::span(items));
    ++seen[items];
  }
  ASSERT_EQ(seen.size(), 24U);
  std::vector<int> counts;
  for (const auto& [items, count] : seen) counts.push_back(count);
  EXPECT_LT(chi_square(counts, 10000.0), 49.7);  // 23 degrees of freedom
}

TEST(Random, ShuffleOfNothingOrOneIsHarmless) {
  Random random(16);
  std::vector<int> none;
  std::vector<int> one = {5};
  random.shuffle(std::span(none));
  random.shuffle(std::span(one));
  EXPECT_EQ(one.front(), 5);
}

TEST(Random, StreamsOfOneSeedAreIndependent) {
  std::set<std::uint64_t> first;
  for (std::uint64_t index = 0; index < 10'000; ++index) first.insert(Random::stream(3, index).bits());
  EXPECT_EQ(first.size(), 10'000U);

  // Neighbouring streams and neighbouring seeds, draw by draw: the correlation of n pairs is about normal with deviation 1/sqrt(n).
  const auto correlation = [](Random a, Random b) {
    const int n = 100'000;
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
    return sum / n * 12;
  };
  const double bound = 5 / std::sqrt(100'000.0);
  EXPECT_LT(std::fabs(correlation(Random::stream(3, 0), Random::stream(3, 1))), bound);
  EXPECT_LT(std::fabs(correlation(Random::stream(3, 7), Random::stream(4, 7))), bound);
  EXPECT_GT(correlation(Random::stream(3, 7), Random::stream(3, 7)), 0.9);
}

}  // namespace
}  // namespace margin
