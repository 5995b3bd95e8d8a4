#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "margin/metric.h"
#include "margin/random.h"
#include "metric/test_rows.h"

namespace margin {
namespace {

using test::Rows;

double naive_ece(const Rows& rows, const std::vector<int>& bin_of) {
  double error = 0.0;
  for (int bin = 0; bin <= *std::max_element(bin_of.begin(), bin_of.end()); ++bin) {
    double difference = 0.0;
    for (std::size_t r = 0; r < rows.p.size(); ++r) difference += bin_of[r] == bin ? rows.o[r] - rows.p[r] : 0.0;
    error += std::fabs(difference);
  }
  return error / static_cast<double>(rows.p.size());
}

TEST(Ece, HandComputedRows) {
  Rows rows;
  rows.add(0.95, 1.0);
  rows.add(0.91, 0.0);  // bin 9: 1 - 1.86
  rows.add(0.25, 0.5);  // bin 2: 0.25
  EXPECT_NEAR(*ece(rows.view()), (0.86 + 0.25) / 3.0, 1e-15);
  EXPECT_NEAR(*ece(rows.view(), 1), std::fabs(1.5 - 2.11) / 3.0, 1e-15);
}

TEST(Ece, ProbabilityOneFallsIntoTheLastBin) {
  Rows rows;
  rows.add(1.0, 0.0);
  rows.add(0.9, 1.0);
  EXPECT_NEAR(*ece(rows.view()), 0.9 / 2.0, 1e-15);
}

TEST(Ece, EqualsAScanPerBin) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Rows rows = test::sample_rows(seed, 200);
    for (const int bins : {1, 3, 10, 37}) {
      std::vector<int> bin_of;
      for (const double p : rows.p) bin_of.push_back(std::min(bins - 1, static_cast<int>(std::floor(p * bins))));
      EXPECT_NEAR(*ece(rows.view(), bins), naive_ece(rows, bin_of), 1e-12);
    }
  }
}

TEST(Ece, PerModelIsTheMeanOfEachModelAlone) {
  Rows rows;
  rows.add(0.8, 1.0, 0, 7);
  rows.add(0.6, 0.0, 0, 2);
  rows.add(0.8, 0.0, 1, 7);
  EXPECT_NEAR(*ece_per_model(rows.view(), rows.model), (0.6 / 2.0 + 0.6) / 2.0, 1e-15);
  const std::vector<ModelPredictions> split = split_by_model(rows.view(), rows.model);
  ASSERT_EQ(split.size(), 2U);
  EXPECT_EQ(split[0].model, 2U);
  EXPECT_EQ(split[1].outcomes, (std::vector<double>{1.0, 0.0}));
}

TEST(EqualMassEce, DistinctProbabilitiesAreCutIntoEqualParts) {
  Random random(5);
  Rows rows;
  for (int i = 0; i < 230; ++i) rows.add(random.uniform(), random.chance(0.4) ? 1.0 : 0.0);
  std::vector<std::size_t> order(rows.p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows.p[a] < rows.p[b]; });
  std::vector<int> bin_of(rows.p.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) bin_of[order[rank]] = static_cast<int>(rank / 23);
  EXPECT_NEAR(*equal_mass_ece(rows.view()), naive_ece(rows, bin_of), 1e-12);
}

TEST(EqualMassEce, EqualProbabilitiesShareABin) {
  Rows rows;
  for (int i = 0; i < 10; ++i) rows.add(0.5, i % 2 == 0 ? 1.0 : 0.0);
  EXPECT_EQ(*equal_mass_ece(rows.view()), 0.0);
}

TEST(DebiasedEce, OneProbabilityGivesThePublishedFormula) {
  Rows rows;
  for (int i = 0; i < 10; ++i) rows.add(0.9, i < 6 ? 1.0 : 0.0);
  EXPECT_NEAR(debiased_ece(rows.view())->squared, 0.3 * 0.3 - 0.6 * 0.4 / 9.0, 1e-15);
  EXPECT_NEAR(debiased_ece(rows.view())->root_mean_square, std::sqrt(0.09 - 0.24 / 9.0), 1e-15);
}

TEST(DebiasedEce, LoneRowsAreLeftOut) {
  Rows rows;
  rows.add(0.15, 1.0);
  EXPECT_FALSE(debiased_ece(rows.view()).has_value());
  rows.add(0.9, 1.0);
  rows.add(0.9, 0.0);
  EXPECT_NEAR(debiased_ece(rows.view())->squared, 0.16 - 0.25, 1e-15);
  EXPECT_EQ(debiased_ece(rows.view())->root_mean_square, 0.0);
}

// Mean and standard error of the squared estimate over 2000 data sets of 200 rows whose true rate is p + shift.
struct Simulated {
  double mean = 0.0;
  double error = 0.0;
};
Simulated simulate_debiased(double shift) {
  constexpr int kSets = 2000;
  double sum = 0.0;
  double squares = 0.0;
  for (int set = 0; set < kSets; ++set) {
    Random random = Random::stream(11, static_cast<std::uint64_t>(set));
    Rows rows;
    for (int i = 0; i < 200; ++i) {
      const double p = 0.2 + 0.6 * random.uniform();
      rows.add(p, random.chance(p + shift) ? 1.0 : 0.0);
    }
    const double squared = debiased_ece(rows.view())->squared;
    sum += squared;
    squares += squared * squared;
  }
  const double mean = sum / kSets;
  return {mean, std::sqrt((squares / kSets - mean * mean) / kSets)};
}

TEST(DebiasedEce, IsUnbiasedWithAndWithoutAnError) {
  const Simulated perfect = simulate_debiased(0.0);
  EXPECT_LT(std::fabs(perfect.mean), 4.0 * perfect.error);
  EXPECT_LT(perfect.error, 1e-4);  // the uncorrected value is 0.2*6/200, sixty times as much
  const Simulated shifted = simulate_debiased(-0.1);
  EXPECT_LT(std::fabs(shifted.mean - 0.01), 4.0 * shifted.error);
}

TEST(EceBand, OneCoinIsAlwaysHalfWrong) {
  const std::vector<double> p = {0.5};
  const EceBand band = *ece_band(p);
  EXPECT_EQ(band.low, 0.5);
  EXPECT_EQ(band.mean, 0.5);
  EXPECT_EQ(band.high, 0.5);
}

TEST(EceBand, MeanOfOneBinIsTheMeanAbsoluteDeviationOfABinomial) {
  const std::vector<double> p(4, 0.5);
  // |hits - 2| of Binomial(4, 1/2) has mean 0.75.
  EXPECT_NEAR(ece_band(p, {.simulations = 20'000, .seed = 3})->mean, 0.75 / 4.0, 0.005);
}

TEST(EceBand, HoldsAPerfectForecasterNineteenTimesOfTwenty) {
  Random random(21);
  std::vector<double> p;
  for (int i = 0; i < 300; ++i) p.push_back(random.uniform());
  const EceBand band = *ece_band(p, {.seed = 4});
  int inside = 0;
  constexpr int kSets = 1000;
  for (int set = 0; set < kSets; ++set) {
    std::vector<double> o;
    for (const double probability : p) o.push_back(random.chance(probability) ? 1.0 : 0.0);
    const double error = *ece({p, o});
    inside += error >= band.low && error <= band.high ? 1 : 0;
  }
  // Four standard deviations of the count, and as much again for the band's own 1000 simulations.
  EXPECT_NEAR(inside, 950, 8.0 * std::sqrt(kSets * 0.95 * 0.05));
}

TEST(EceBand, SameSeedSameBand) {
  const Rows rows = test::sample_rows(8, 50);
  EXPECT_EQ(ece_band(rows.p, {.seed = 1})->high, ece_band(rows.p, {.seed = 1})->high);
  EXPECT_NE(ece_band(rows.p, {.seed = 1})->mean, ece_band(rows.p, {.seed = 2})->mean);
}

TEST(Ece, NoRowsNoValue) {
  EXPECT_FALSE(ece({}).has_value());
  EXPECT_FALSE(ece_per_model({}, {}).has_value());
  EXPECT_FALSE(equal_mass_ece({}).has_value());
  EXPECT_FALSE(debiased_ece({}).has_value());
  EXPECT_FALSE(ece_band({}).has_value());
}

TEST(Metric, RowOrderChangesNoBit) {
  const Rows rows = test::sample_rows(9, 300);
  const Rows other = test::shuffled(rows, 1);
  EXPECT_EQ(ece(rows.view()), ece(other.view()));
  EXPECT_EQ(ece_per_model(rows.view(), rows.model), ece_per_model(other.view(), other.model));
  EXPECT_EQ(equal_mass_ece(rows.view()), equal_mass_ece(other.view()));
  EXPECT_EQ(debiased_ece(rows.view())->squared, debiased_ece(other.view())->squared);
  EXPECT_EQ(smooth_ece_at(rows.view(), 0.05), smooth_ece_at(other.view(), 0.05));
  EXPECT_EQ(brier_parts(rows.view())->within_covariance, brier_parts(other.view())->within_covariance);
  EXPECT_EQ(log_loss(rows.view()), log_loss(other.view()));
  EXPECT_EQ(auroc(rows.view()), auroc(other.view()));
  EXPECT_EQ(risk_coverage(rows.view())->area, risk_coverage(other.view())->area);
  EXPECT_EQ(sharpness(rows.p), sharpness(other.p));
}

using MetricDeathTest = testing::Test;

TEST(MetricDeathTest, RowsOutsideTheUnitIntervalStopTheProgram) {
  const std::vector<double> ok = {0.5};
  const std::vector<double> above = {1.0000001};
  const std::vector<double> nan = {std::nan("")};
  EXPECT_DEATH((void)ece({above, ok}), "lie in \\[0, 1\\]");
  EXPECT_DEATH((void)brier({ok, nan}), "lie in \\[0, 1\\]");
  EXPECT_DEATH((void)log_loss({ok, {}}), "every row");
}

}  // namespace
}  // namespace margin
