#include "experiment/contrast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "margin/random.h"

namespace margin::experiment {
namespace {

// Sum of twelve uniform numbers minus six: mean 0, variance 1, near enough to normal.
double noise(Random& random) {
  double sum = -6.0;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

// The share of experiments of `tasks` tasks, each with a true difference of `effect` and standard deviation 1, that tell it from zero.
double power(std::size_t tasks, double effect, std::uint64_t seed) {
  Random random(seed);
  constexpr int kExperiments = 3000;
  int seen = 0;
  for (int i = 0; i < kExperiments; ++i) {
    double sum = 0.0, squares = 0.0;
    for (std::size_t task = 0; task < tasks; ++task) {
      const double difference = effect + noise(random);
      sum += difference;
      squares += difference * difference;
    }
    const auto n = static_cast<double>(tasks);
    const double mean = sum / n;
    const double standard_error = std::sqrt((squares / n - mean * mean) / n);
    seen += mean - 1.96 * standard_error > 0.0 ? 1 : 0;
  }
  return static_cast<double>(seen) / kExperiments;
}

TEST(TasksNeeded, AreEnoughInEightyOfAHundredExperiments) {
  for (const double effect : {0.2, 0.35}) {
    // 50 tasks of standard deviation 1.
    const auto needed = tasks_needed(1.0 / std::sqrt(50.0), 50, effect);
    ASSERT_TRUE(needed);
    EXPECT_NEAR(power(static_cast<std::size_t>(*needed), effect, 7), 0.80, 0.03) << *needed;
    EXPECT_LT(power(static_cast<std::size_t>(*needed / 2.0), effect, 8), 0.60);
  }
}

TEST(TasksNeeded, DoNotDependOnHowManyTasksTheStandardErrorIsOf) {
  EXPECT_EQ(tasks_needed(0.1, 100, 0.05), tasks_needed(0.05, 400, 0.05));
  EXPECT_EQ(tasks_needed(0.1, 100, 0.05), tasks_needed(0.1, 100, -0.05));
}

TEST(TasksNeeded, AreUnknownWhereNoNumberWouldDo) {
  EXPECT_FALSE(tasks_needed(0.1, 100, 0.0));
  EXPECT_FALSE(tasks_needed(0.1, 100, 1e-9));
  EXPECT_FALSE(tasks_needed(0.0, 100, 0.1));
  EXPECT_EQ(tasks_needed(1e-6, 100, 0.5), 30.0);
}

// Resamples of a value spread evenly from low to high around their middle.
Measured measured(double low, double high) {
  Measured one{(low + high) / 2.0, {}};
  for (int i = 0; i <= 1000; ++i) one.resampled.emplace_back(low + (high - low) * i / 1000.0);
  return one;
}

Answer answer(double low, double high, ContrastRules rules, std::size_t tasks = 100) {
  return contrast_of(measured(low, high), {0.0, Resampled(1001, 0.0)}, tasks, rules).answer;
}

TEST(Contrast, ClaimsHelpOnlyWhenTheIntervalLeavesZeroOut) {
  const ContrastRules higher{.better = Better::kHigher, .effect = 0.02};
  EXPECT_EQ(answer(0.001, 0.05, higher), Answer::kHelps);
  EXPECT_EQ(answer(-0.05, -0.001, higher), Answer::kHurts);
  EXPECT_EQ(answer(-0.01, 0.05, higher), Answer::kUnknown);
  EXPECT_EQ(answer(-0.05, 0.01, higher), Answer::kNoGain);
  EXPECT_EQ(answer(0.001, 0.05, higher, 29), Answer::kTooFew);
}

TEST(Contrast, TurnsRoundWhereLessIsBetter) {
  const ContrastRules lower{.better = Better::kLower, .effect = 0.02};
  EXPECT_EQ(answer(-0.05, -0.001, lower), Answer::kHelps);
  EXPECT_EQ(answer(0.001, 0.05, lower), Answer::kHurts);
  EXPECT_EQ(answer(-0.05, 0.01, lower), Answer::kUnknown);
  EXPECT_EQ(answer(-0.01, 0.05, lower), Answer::kNoGain);
}

TEST(Contrast, WithoutResamplesClaimsNothing) {
  EXPECT_EQ(contrast_of({0.9, {}}, {0.1, {}}, 100, {}).answer, Answer::kNotThere);
  EXPECT_EQ(contrast_of({}, {}, 0, {}).answer, Answer::kNotThere);
}

}  // namespace
}  // namespace margin::experiment
