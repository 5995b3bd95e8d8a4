#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "margin/metric.h"
#include "metric/test_rows.h"

namespace margin {
namespace {

using test::Rows;

TEST(Brier, PartsAddUpWithFractionalOutcomes) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Rows rows = test::sample_rows(seed, 150);
    for (const int bins : {1, 10, 50}) {
      const BrierParts parts = *brier_parts(rows.view(), bins);
      const double classic = parts.reliability - parts.resolution + parts.uncertainty;
      EXPECT_NEAR(classic + parts.within_variance - parts.within_covariance, parts.brier, 1e-14);
      EXPECT_EQ(parts.brier, *brier(rows.view()));
    }
  }
}

TEST(Brier, OneProbabilityPerBinLeavesTheClassicThreeTerms) {
  Rows rows;
  for (int i = 0; i < 10; ++i) rows.add(0.85, i < 7 ? 1.0 : 0.0);
  for (int i = 0; i < 30; ++i) rows.add(0.25, i < 9 ? 1.0 : 0.0);
  const BrierParts parts = *brier_parts(rows.view());
  EXPECT_NEAR(parts.reliability, 0.25 * 0.15 * 0.15 + 0.75 * 0.05 * 0.05, 1e-15);
  EXPECT_NEAR(parts.resolution, 0.25 * 0.3 * 0.3 + 0.75 * 0.1 * 0.1, 1e-15);
  EXPECT_NEAR(parts.uncertainty, 0.4 * 0.6, 1e-15);
  EXPECT_NEAR(parts.within_variance, 0.0, 1e-15);
  EXPECT_NEAR(parts.within_covariance, 0.0, 1e-15);
}

TEST(LogLoss, HandComputedAndClipped) {
  Rows rows;
  rows.add(0.8, 1.0);
  rows.add(0.8, 0.25);
  EXPECT_NEAR(*log_loss(rows.view()), -(1.25 * std::log(0.8) + 0.75 * std::log(0.2)) / 2.0, 1e-15);
  Rows certain;
  certain.add(1.0, 0.0);
  EXPECT_NEAR(*log_loss(certain.view()), -std::log(1e-6), 1e-9);
  Rows right;
  right.add(0.0, 0.0);
  EXPECT_NEAR(*log_loss(right.view()), 1e-6, 1e-11);
}

TEST(Auroc, EqualsEveryPairCompared) {
  for (const std::uint64_t seed : {4U, 5U}) {
    const Rows rows = test::sample_rows(seed, 80);
    double won = 0.0;
    double pairs = 0.0;
    for (std::size_t i = 0; i < rows.p.size(); ++i) {
      for (std::size_t j = 0; j < rows.p.size(); ++j) {
        const double weight = rows.o[i] * (1.0 - rows.o[j]);
        pairs += weight;
        won += weight * (rows.p[i] > rows.p[j] ? 1.0 : rows.p[i] == rows.p[j] ? 0.5 : 0.0);
      }
    }
    EXPECT_NEAR(*auroc(rows.view()), won / pairs, 1e-12);
  }
}

TEST(Auroc, OneClassHasNoValue) {
  Rows rows;
  rows.add(0.3, 1.0);
  rows.add(0.4, 1.0);
  EXPECT_FALSE(auroc(rows.view()).has_value());
  rows.add(0.35, 0.0);
  EXPECT_EQ(*auroc(rows.view()), 0.5);
}

TEST(Sharpness, IsTheVarianceOfTheProbabilities) {
  const std::vector<double> p = {0.2, 0.4, 0.9};
  EXPECT_NEAR(*sharpness(p), (0.09 + 0.01 + 0.16) / 3.0, 1e-16);
}

TEST(Reliability, CountsMeansAndWilsonInterval) {
  Rows rows;
  for (int i = 0; i < 10; ++i) rows.add(i < 5 ? 0.72 : 0.78, i < 8 ? 1.0 : 0.0);
  rows.add(1.0, 1.0);
  const std::vector<ReliabilityBin> table = reliability_table(rows.view());
  ASSERT_EQ(table.size(), 10U);
  EXPECT_EQ(table[7].count, 10U);
  EXPECT_NEAR(table[7].mean_probability, 0.75, 1e-15);
  EXPECT_NEAR(table[7].mean_outcome, 0.8, 1e-15);
  // Wilson's interval of 8 in 10 as printed in tables.
  EXPECT_NEAR(table[7].outcome_low, 0.4902, 5e-5);
  EXPECT_NEAR(table[7].outcome_high, 0.9433, 5e-5);
  EXPECT_EQ(table[9].count, 1U);
  EXPECT_EQ(table[9].high, 1.0);
  EXPECT_EQ(table[9].outcome_high, 1.0);
  EXPECT_EQ(table[0].count, 0U);
}

// Averages the risks over every order of the rows that respects falling probability.
double area_over_all_orders(const Rows& rows) {
  std::vector<std::size_t> order(rows.p.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  double total = 0.0;
  double orders = 0.0;
  do {
    const bool falling = std::is_sorted(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows.p[a] > rows.p[b]; });
    if (!falling) continue;
    orders += 1.0;
    double errors = 0.0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      errors += 1.0 - rows.o[order[k]];
      total += errors / static_cast<double>(k + 1);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return total / orders / static_cast<double>(order.size());
}

TEST(RiskCoverage, AreaAveragesOverTheOrderOfTies) {
  Rows rows;
  const double p[] = {0.9, 0.7, 0.7, 0.7, 0.4, 0.4, 0.1};
  const double o[] = {1.0, 0.0, 1.0, 0.5, 0.0, 1.0, 0.0};
  for (std::size_t i = 0; i < 7; ++i) rows.add(p[i], o[i]);
  EXPECT_NEAR(risk_coverage(rows.view())->area, area_over_all_orders(rows), 1e-14);
}

TEST(RiskCoverage, CurveHasAPointPerThreshold) {
  Rows rows;
  rows.add(0.5, 0.0);
  rows.add(0.9, 1.0);
  rows.add(0.5, 1.0);
  rows.add(0.2, 0.0);
  const RiskCoverage result = *risk_coverage(rows.view());
  ASSERT_EQ(result.curve.size(), 3U);
  EXPECT_EQ(result.curve[0].risk, 0.0);
  EXPECT_EQ(result.curve[1].threshold, 0.5);
  EXPECT_EQ(result.curve[1].coverage, 0.75);
  EXPECT_NEAR(result.curve[1].risk, 1.0 / 3.0, 1e-16);
  EXPECT_EQ(result.curve[2].risk, 0.5);
}

TEST(Score, NoRowsNoValue) {
  EXPECT_FALSE(brier({}).has_value());
  EXPECT_FALSE(brier_parts({}).has_value());
  EXPECT_FALSE(log_loss({}).has_value());
  EXPECT_FALSE(auroc({}).has_value());
  EXPECT_FALSE(sharpness({}).has_value());
  EXPECT_FALSE(risk_coverage({}).has_value());
  EXPECT_EQ(reliability_table({})[3].count, 0U);
}

}  // namespace
}  // namespace margin
