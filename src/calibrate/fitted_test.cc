// The fitted curves of temperature_scaling and platt_scaling: at their optimum, also where the optimum is hard to reach.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "margin/calibrator.h"
#include "margin/random.h"

namespace margin {
namespace {

using Rows = std::vector<Observation>;

std::unique_ptr<Calibrator> fitted(const char* method, const Rows& rows) {
  auto calibrator = std::move(make_calibrator(method)).value();
  EXPECT_TRUE(calibrator->fit(rows).ok());
  return calibrator;
}

double term(const Calibrator& calibrator, const std::string& name) {
  for (const Term& each : calibrator.explain(0, 0.7).terms) {
    if (each.name == name) return each.value;
  }
  ADD_FAILURE() << "no term " << name;
  return 0.0;
}

Rows random_rows(std::uint64_t seed, int count) {
  Random random(seed);
  Rows rows;
  for (int i = 0; i < count; ++i) {
    const double confidence = random.uniform();
    rows.push_back(
        {.confidence = confidence, .outcome = random.chance(0.2 + 0.3 * confidence) ? 1.0 : 0.0, .weight = 1.0 - random.uniform()});
  }
  return rows;
}

// Gradient of the penalised log loss in slope and intercept, by the C library.
void expect_platt_optimum(const Rows& rows) {
  const auto calibrator = fitted("platt_scaling", rows);
  const double a = term(*calibrator, "slope");
  const double b = term(*calibrator, "intercept");
  double by_slope = 1e-6 * a;
  double by_intercept = 1e-6 * b;
  for (const Observation& row : rows) {
    const double residual = row.weight * (1.0 / (1.0 + std::exp(-(a * row.confidence + b))) - row.outcome);
    by_slope += residual * row.confidence;
    by_intercept += residual;
  }
  EXPECT_NEAR(by_slope, 0.0, 1e-9);
  EXPECT_NEAR(by_intercept, 0.0, 1e-9);
}

TEST(PlattScaling, ReachesTheOptimumOnRandomRows) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) expect_platt_optimum(random_rows(seed, 1 + 40 * static_cast<int>(seed)));
}

TEST(PlattScaling, ReachesTheOptimumWhereRowsAreSeparable) {
  for (const double gap : {0.3, 1e-3, 1e-6}) {
    Rows rows;
    for (int i = 0; i < 50; ++i) rows.push_back({.confidence = i % 2 == 0 ? 0.5 : 0.5 + gap, .outcome = i % 2 == 0 ? 0.0 : 1.0});
    expect_platt_optimum(rows);
  }
}

TEST(PlattScaling, ReachesTheOptimumWithOneClassOrOneConfidence) {
  for (const double confidence : {0.0, 1e-300, 0.9, 1.0}) {
    expect_platt_optimum(Rows(500, {.confidence = confidence, .outcome = 1.0}));
    expect_platt_optimum(Rows(500, {.confidence = confidence, .outcome = 0.25, .weight = 0.5}));
    expect_platt_optimum({{.confidence = confidence, .outcome = 0.0, .weight = 1e-9}});
  }
}

TEST(TemperatureScaling, NoTemperatureNearbyIsBetter) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Rows rows = random_rows(seed, 400);
    const double best = term(*fitted("temperature_scaling", rows), "temperature");
    const auto loss = [&](double temperature) {
      double sum = 0.0;
      for (const Observation& row : rows) {
        const double z = std::log(row.confidence / (1.0 - row.confidence)) / temperature;
        sum += row.weight * (std::log1p(std::exp(z)) - row.outcome * z);
      }
      return sum;
    };
    for (const double other : {best * 0.999, best * 1.001, 0.05, 1.0, 20.0}) {
      if (other >= 0.05 && other <= 20.0) {
        EXPECT_LE(loss(best), loss(other) + 1e-12) << best << " against " << other;
      }
    }
  }
}

TEST(TemperatureScaling, StaysBetweenItsBounds) {
  EXPECT_EQ(term(*fitted("temperature_scaling", Rows(50, {.confidence = 0.9, .outcome = 1.0})), "temperature"), 0.05);
  EXPECT_EQ(term(*fitted("temperature_scaling", Rows(50, {.confidence = 0.9, .outcome = 0.0})), "temperature"), 20.0);
}

TEST(TemperatureScaling, RowsThatSayNothingLeaveTheTemperatureAtOne) {
  EXPECT_EQ(term(*fitted("temperature_scaling", Rows(50, {.confidence = 0.5, .outcome = 1.0})), "temperature"), 1.0);
}

TEST(TemperatureScaling, OneConfidenceIsMovedToItsAccuracy) {
  Rows rows(100, {.confidence = 0.95, .outcome = 0.0});
  for (std::size_t i = 0; i < 70; ++i) rows[i].outcome = 1.0;
  EXPECT_NEAR(fitted("temperature_scaling", rows)->calibrate(0, 0.95), 0.7, 1e-12);
}

TEST(FrozenMethods, AModelWithoutCalibrationRowsPassesThrough) {
  for (const char* method : {"temperature_scaling", "platt_scaling", "histogram_binning"}) {
    const auto calibrator = fitted(method, random_rows(1, 100));
    calibrator->join(1);
    for (const double confidence : {0.0, 1e-300, 0.37, 1.0}) EXPECT_EQ(calibrator->calibrate(1, confidence), confidence) << method;
  }
}

TEST(FrozenMethods, TwoRowsOfHalfTheWeightAreOneRow) {
  const Rows rows = random_rows(2, 200);
  Rows halves;
  for (Observation row : rows) {
    row.weight *= 0.5;
    halves.insert(halves.end(), 2, row);
  }
  for (const char* method : {"temperature_scaling", "platt_scaling", "histogram_binning"}) {
    const auto whole = fitted(method, rows);
    const auto halved = fitted(method, halves);
    for (int i = 0; i <= 20; ++i) EXPECT_NEAR(whole->calibrate(0, i / 20.0), halved->calibrate(0, i / 20.0), 1e-12) << method;
  }
}

}  // namespace
}  // namespace margin
