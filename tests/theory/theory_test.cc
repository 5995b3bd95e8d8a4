// What is known exactly about margin's averages (docs/calibration.md#margin), held in simulation. Seeds are fixed; a simulated mean must
// lie within 3.89 standard errors of theory, which a correct program misses once in 10,000 seeds and a wrong one practically always.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "margin/calibrator.h"
#include "margin/random.h"
#include "margin/vote.h"

namespace margin {
namespace {

constexpr double kStandardErrors = 3.89;

struct Rates {
  double correct;
  double incorrect;
};

// Band factors of one band alone: the accuracy term is the average itself.
std::unique_ptr<Calibrator> averages(Rates rates) {
  auto made = make_calibrator("margin",
                              {{"bands", 1.0}, {"shrinkage", 0.0}, {"alpha_correct", rates.correct}, {"alpha_incorrect", rates.incorrect}});
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

double average(const Calibrator& calibrator, ModelId model) {
  const Explanation explanation = calibrator.explain(model, 0.5);
  EXPECT_EQ(explanation.terms.front().name, "accuracy");
  return explanation.terms.front().value;
}

void observe(Calibrator& calibrator, ModelId model, double outcome) {
  ASSERT_TRUE(calibrator.observe({.model = model, .confidence = 0.5, .outcome = outcome}).ok());
}

struct Moments {
  double mean, mean_error, variance, variance_error;
};

// Mean and variance over `models` independent averages after `steps` observations each, with their standard errors.
Moments simulate(Rates rates, double theta, std::uint64_t seed) {
  constexpr ModelId kModels = 20'000;
  const int steps = static_cast<int>(20.0 / std::min(rates.correct, rates.incorrect));  // the start's weight is then below e^-20
  auto calibrator = averages(rates);
  Random random(seed);
  std::vector<double> values;
  for (ModelId model = 0; model < kModels; ++model) {
    calibrator->join(model);
    for (int step = 0; step < steps; ++step) observe(*calibrator, model, random.chance(theta) ? 1.0 : 0.0);
    values.push_back(average(*calibrator, model));
    calibrator->leave(model);  // so that the next model's entry does not depend on it
  }
  const double n = kModels;
  double mean = 0.0;
  for (const double value : values) mean += value / n;
  double second = 0.0;
  double fourth = 0.0;
  for (const double value : values) {
    const double square = (value - mean) * (value - mean);
    second += square / n;
    fourth += square * square / n;
  }
  return {mean, std::sqrt(second / n), second, std::sqrt((fourth - second * second) / n)};
}

struct Case {
  Rates rates;
  double theta;
};

class StationaryAverage : public testing::TestWithParam<Case> {};

TEST_P(StationaryAverage, HasTheMeanAndVarianceOfTheory) {
  const auto [u, d] = GetParam().rates;
  const double theta = GetParam().theta;
  const double mu = u * theta / (u * theta + d * (1.0 - theta));
  const double variance =
      (2.0 * theta * u * (1.0 - u) * mu + theta * u * u) / (theta * u * (2.0 - u) + (1.0 - theta) * d * (2.0 - d)) - mu * mu;
  const Moments simulated = simulate({u, d}, theta, 20'240'601);
  EXPECT_NEAR(simulated.mean, mu, kStandardErrors * simulated.mean_error);
  EXPECT_NEAR(simulated.variance, variance, kStandardErrors * simulated.variance_error);
  if (u == d) {
    EXPECT_NEAR(mu, theta, 1e-15) << "one rate is unbiased";
    EXPECT_NEAR(variance, u * theta * (1.0 - theta) / (2.0 - u), 1e-15);
  } else {
    EXPECT_GT(std::fabs(simulated.mean - theta), kStandardErrors * simulated.mean_error) << "two rates are biased";
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, StationaryAverage,
                         testing::Values(Case{{0.04, 0.04}, 0.79}, Case{{0.02, 0.06}, 0.8}, Case{{0.16, 0.16}, 0.3},
                                         Case{{0.08, 0.04}, 0.5}, Case{{0.3, 0.1}, 0.6}));

TEST(WorkedExamples, MatchThePublishedDigits) {
  const Moments asymmetric = simulate({0.02, 0.06}, 0.8, 1);
  EXPECT_NEAR(asymmetric.mean, 0.571, 0.0005 + kStandardErrors * asymmetric.mean_error);
  EXPECT_NEAR(asymmetric.mean - 0.8, -0.229, 0.0005 + kStandardErrors * asymmetric.mean_error);
  const Moments steady = simulate({0.04, 0.04}, 0.79, 2);
  EXPECT_NEAR(std::sqrt(steady.variance), 0.058, 0.0005 + kStandardErrors * steady.variance_error / (2.0 * std::sqrt(steady.variance)));
}

TEST(Average, AnObservationWeighsLessWithEveryStepSinceByOneMinusAlpha) {
  constexpr double kAlpha = 0.04;
  auto right = averages({kAlpha, kAlpha});
  auto wrong = averages({kAlpha, kAlpha});
  Random random(3);
  for (auto* calibrator : {right.get(), wrong.get()}) calibrator->join(0);
  observe(*right, 0, 1.0);
  observe(*wrong, 0, 0.0);
  double expected = kAlpha;
  for (int step = 0; step < 200; ++step, expected *= 1.0 - kAlpha) {
    EXPECT_NEAR(average(*right, 0) - average(*wrong, 0), expected, 1e-15);
    const double outcome = random.chance(0.6) ? 1.0 : 0.0;
    observe(*right, 0, outcome);
    observe(*wrong, 0, outcome);
  }
}

TEST(Average, ForgetsItsStartGeometrically) {
  constexpr double kAlpha = 0.04;
  constexpr double kTheta = 0.9;
  auto calibrator = averages({kAlpha, kAlpha});
  calibrator->join(0);
  const double start = average(*calibrator, 0) - kTheta;
  double remaining = 1.0;
  for (int step = 0; step < 300; ++step) {
    EXPECT_NEAR(average(*calibrator, 0) - kTheta, remaining * start, 1e-15);
    observe(*calibrator, 0, kTheta);
    remaining *= 1.0 - kAlpha;
  }
}

TEST(Average, RecoversFromAStepWithinThePublishedCount) {
  constexpr double kAlpha = 0.04;
  constexpr double kStep = 0.2;
  constexpr double kEpsilon = 0.01;
  const int bound = static_cast<int>(std::ceil(std::log(kStep / kEpsilon) / kAlpha));
  EXPECT_EQ(bound, 75);
  auto calibrator = averages({kAlpha, kAlpha});
  calibrator->join(0);
  for (int step = 0; step < 1000; ++step) observe(*calibrator, 0, 0.7);
  int needed = 0;
  for (; std::fabs(average(*calibrator, 0) - 0.5) >= kEpsilon; ++needed) observe(*calibrator, 0, 0.5);
  EXPECT_LE(needed, bound);
  EXPECT_EQ(needed, static_cast<int>(std::ceil(std::log(kEpsilon / kStep) / std::log(1.0 - kAlpha))));
}

// A drift whose steps are uniform in [0, delta] has slope delta/2, and the average trails it by delta/(2 alpha), less one step.
TEST(Average, TrailsADriftByItsSlopeOverAlpha) {
  constexpr double kAlpha = 0.04;
  constexpr double kDelta = 1e-4;
  constexpr ModelId kModels = 2'000;
  auto calibrator = averages({kAlpha, kAlpha});
  Random random(4);
  double sum = 0.0;
  double squares = 0.0;
  for (ModelId model = 0; model < kModels; ++model) {
    calibrator->join(model);
    double theta = 0.5;
    for (int step = 0; step < 1000; ++step) observe(*calibrator, model, theta += kDelta * random.uniform());
    const double lag = theta - average(*calibrator, model);
    sum += lag;
    squares += lag * lag;
    calibrator->leave(model);
  }
  const double mean = sum / kModels;
  const double error = std::sqrt((squares / kModels - mean * mean) / kModels);
  EXPECT_NEAR(mean, kDelta / 2.0 * (1.0 - kAlpha) / kAlpha, kStandardErrors * error);
  EXPECT_NEAR(mean, kDelta / (2.0 * kAlpha), kDelta / 2.0 + kStandardErrors * error);
}

TEST(Selection, PicksTheBestModelLessOftenTheNoisierTheConfidence) {
  constexpr std::array<double, 3> kTruth = {0.8, 0.7, 0.6};
  constexpr int kTrials = 200'000;
  const auto vote = std::move(make_vote("argmax")).value();
  Tally tally;
  Random random(5);
  double previous = 1.0 + 1e-9;
  for (const double noise : {0.0, 0.05, 0.1, 0.2, 0.4}) {
    int best = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::array<Ballot, 3> ballots;
      for (std::uint32_t i = 0; i < 3; ++i) {
        ballots[i] = {.model = i, .answer = i, .confidence = std::clamp(kTruth[i] + noise * random.normal(), 0.0, 1.0)};
      }
      vote->tally(ballots, 3, tally);
      best += tally.winner == 0 ? 1 : 0;
    }
    const double share = static_cast<double>(best) / kTrials;
    EXPECT_LT(share, previous - (noise > 0.0 ? kStandardErrors * std::sqrt(0.5 / kTrials) : 0.0)) << "noise " << noise;
    if (noise == 0.0) {
      EXPECT_EQ(share, 1.0);
    }
    previous = share;
  }
  EXPECT_GT(previous, 1.0 / 3.0);
}

}  // namespace
}  // namespace margin
