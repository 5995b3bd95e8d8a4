#include "calibrate/stated_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "margin/random.h"

namespace margin::internal {
namespace {

double odds_of(double p) { return p / (1.0 - p); }

TEST(StatedCurve, CoordinateIsNearlyTheLogOddsAndNeverTurnsBack) {
  double before = -100.0;
  for (double log_odds = -13.8; log_odds < 13.8; log_odds += 0.001) {
    const double x = StatedCurve::coordinate(std::exp(log_odds));
    EXPECT_NEAR(x, log_odds, 0.006);
    EXPECT_GT(x, before);
    before = x;
  }
  EXPECT_EQ(StatedCurve::coordinate(1.0), 0.0);
}

TEST(StatedCurve, OddsAreNearlyTheExponentialOfTheLine) {
  for (const double slope : {0.0, 0.3, 1.0, StatedCurve::kSlopeMax}) {
    for (const double offset : {-StatedCurve::kOffsetMax, -0.7, 0.0, 1.3, StatedCurve::kOffsetMax}) {
      for (double x = -13.8; x < 13.8; x += 0.01) {
        const double exact = std::exp(slope * x + offset);
        EXPECT_NEAR(StatedCurve::odds({.slope = slope, .offset = offset}, x), exact, 0.0034 * exact);
      }
    }
  }
}

// Against Newton's method on all observations at once.
TEST(StatedCurve, FindsTheLineThatAFitOfAllObservationsFinds) {
  StatedCurve curve(1e6);
  curve.make_room(1);
  curve.join(0);
  Random random(3);
  std::vector<std::pair<double, double>> rows(20'000);
  for (auto& [x, outcome] : rows) {
    const double stated = 0.05 + 0.9 * random.uniform();
    x = StatedCurve::coordinate(odds_of(stated));
    outcome = random.chance(1.0 / (1.0 + std::exp(-(0.4 * x + 0.8)))) ? 1.0 : 0.0;
    const double odds = StatedCurve::odds(curve.model(0).line, x);
    curve.learn(0, x, odds / (1.0 + odds), outcome, 1.0);
  }
  double slope = 0.0, offset = 0.0;
  for (int round = 0; round < 20; ++round) {
    double gradient_slope = 0.0, gradient_offset = 0.0, xx = 0.0, x1 = 0.0, one = 0.0;
    for (const auto& [x, outcome] : rows) {
      const double p = 1.0 / (1.0 + std::exp(-(slope * x + offset)));
      gradient_slope += (outcome - p) * x;
      gradient_offset += outcome - p;
      xx += p * (1.0 - p) * x * x;
      x1 += p * (1.0 - p) * x;
      one += p * (1.0 - p);
    }
    const double whole = xx * one - x1 * x1;
    slope += (one * gradient_slope - x1 * gradient_offset) / whole;
    offset += (xx * gradient_offset - x1 * gradient_slope) / whole;
  }
  // A standard error of the fit is 0.013 in slope and 0.016 in offset; both have seen the same observations.
  EXPECT_NEAR(curve.model(0).line.slope, slope, 0.004);
  EXPECT_NEAR(curve.model(0).line.offset, offset, 0.004);
}

TEST(StatedCurve, ANewcomerStartsAtTheLineOfTheTaught) {
  StatedCurve curve(1000.0);
  curve.make_room(2);
  curve.join(0);
  for (int i = 0; i < 500; ++i) {
    const double odds = StatedCurve::odds(curve.model(0).line, 2.0);
    curve.learn(0, 2.0, odds / (1.0 + odds), 0.0, 1.0);
  }
  curve.join(1);
  EXPECT_LT(StatedCurve::odds(curve.model(1).line, 2.0), 0.2);
  EXPECT_EQ(curve.model(1).count, 0.0);
}

TEST(StatedCurve, AnAlarmLeavesTheLineWithLessBehindIt) {
  const StatedCurve::Curve sure{.line = {.slope = 0.5, .offset = -1.0}, .squares = 400.0, .products = 100.0, .count = 100.0};
  const StatedCurve::Curve shaken = StatedCurve::after_alarm(sure, 8.0);
  EXPECT_EQ(shaken.line.slope, sure.line.slope);
  EXPECT_EQ(shaken.line.offset, sure.line.offset);
  EXPECT_DOUBLE_EQ(shaken.count, 4.8);
  EXPECT_DOUBLE_EQ(shaken.squares, 400.0 * 0.048);
  EXPECT_DOUBLE_EQ(shaken.products, 4.8);
  EXPECT_EQ(StatedCurve::after_alarm(shaken, 48.0).count, shaken.count) << "never more";
}

// What no fixed root can: an exponent of 0.06, and one that differs by model.
TEST(StatedCurve, MakesMarginAdaptiveFollowASlopeThatNoRootOffers) {
  auto with = std::move(make_calibrator("margin_adaptive")).value();
  auto without = std::move(make_calibrator("margin_adaptive@2")).value();
  Random random(5);
  double excess[2] = {};
  for (int task = 0; task < 4000; ++task) {
    for (ModelId model = 0; model < 2; ++model) {
      const double log_odds = 4.0 + 3.0 * random.normal();
      const double truth = sigmoid((model == 0 ? 0.06 : 0.12) * log_odds + 0.2);
      const Observation row{.model = model, .confidence = sigmoid(log_odds), .outcome = random.chance(truth) ? 1.0 : 0.0};
      Calibrator* calibrators[] = {with.get(), without.get()};
      for (int i = 0; i < 2; ++i) {
        calibrators[i]->join(model);
        const double p = calibrators[i]->calibrate(model, row.confidence);
        if (task >= 1000) excess[i] += (p - truth) * (p - truth);
        calibrators[i]->begin_task();
        ASSERT_TRUE(calibrators[i]->observe(row));
        calibrators[i]->end_task();
      }
    }
  }
  EXPECT_LT(excess[0], 0.75 * excess[1]) << excess[0] / 6000 << " against " << excess[1] / 6000;
}

// Else its sums would end among the smallest numbers, where arithmetic is many times slower, and stay there.
TEST(MarginAdaptive, ABandThatIsNoLongerUsedIsForgottenWholly) {
  auto calibrator = std::move(make_calibrator("margin_adaptive")).value();
  calibrator->join(0);
  ASSERT_TRUE(calibrator->observe({.model = 0, .confidence = 0.1, .outcome = 1.0}));
  EXPECT_EQ(calibrator->explain(0, 0.1).observations, 1.0);
  for (int i = 0; i < 30'000; ++i) ASSERT_TRUE(calibrator->observe({.model = 0, .confidence = 0.9, .outcome = i % 4 == 0 ? 0.0 : 1.0}));
  EXPECT_GT(calibrator->explain(0, 0.1).observations, 0.0);
  for (int i = 0; i < 40'000; ++i) ASSERT_TRUE(calibrator->observe({.model = 0, .confidence = 0.9, .outcome = i % 4 == 0 ? 0.0 : 1.0}));
  EXPECT_EQ(calibrator->explain(0, 0.1).observations, 0.0);
}

// The sum of two parabolas, and of the damping around the mean line, has its least value at the merged line.
TEST(StatedCurve, MergedLineIsTheBestOfBoth) {
  const StatedCurve::Curve a{.line = {.slope = 0.8, .offset = 0.5}, .squares = 90.0, .products = 30.0, .count = 25.0};
  const StatedCurve::Curve b{.line = {.slope = 0.3, .offset = -0.4}, .squares = 12.0, .products = -9.0, .count = 20.0};
  const double share = 0.4;
  const StatedCurve::Line mean{0.6 * 0.8 + 0.4 * 0.3, 0.6 * 0.5 - 0.4 * 0.4};
  const auto loss = [&](double slope, double offset) {
    double sum = 4.0 * std::pow(slope - mean.slope, 2) + std::pow(offset - mean.offset, 2);
    for (const auto& each : {a, b}) {
      const double u = slope - each.line.slope, v = offset - each.line.offset;
      sum += each.squares * u * u + 2.0 * each.products * u * v + each.count * v * v;
    }
    return sum;
  };
  const StatedCurve::Curve merged = StatedCurve::merged(a, b, share);
  const double least = loss(merged.line.slope, merged.line.offset);
  for (const double angle : {0.0, 0.7, 1.5, 2.2, 3.1, 4.0, 4.9, 5.6}) {
    EXPECT_GT(loss(merged.line.slope + 1e-4 * std::cos(angle), merged.line.offset + 1e-4 * std::sin(angle)), least) << angle;
  }
  EXPECT_EQ(merged.squares, 102.0);
  EXPECT_EQ(merged.products, 21.0);
  EXPECT_EQ(merged.count, 45.0);
  const StatedCurve::Curve turned = StatedCurve::merged(b, a, 1.0 - share);
  EXPECT_NEAR(turned.line.slope, merged.line.slope, 1e-12);
  EXPECT_NEAR(turned.line.offset, merged.line.offset, 1e-12);
}

TEST(StatedCurve, MergedWithNothingIsTheSame) {
  const StatedCurve::Curve a{.line = {.slope = 0.8, .offset = 0.5}, .squares = 90.0, .products = 30.0, .count = 25.0};
  for (const StatedCurve::Curve& same : {StatedCurve::merged(a, {}, 0.0), StatedCurve::merged({}, a, 1.0)}) {
    EXPECT_EQ(same.line.slope, a.line.slope);
    EXPECT_EQ(same.line.offset, a.line.offset);
    EXPECT_EQ(same.count, a.count);
  }
}

}  // namespace
}  // namespace margin::internal
