#include "margin/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "metric/test_rows.h"

namespace margin {
namespace {

using test::Rows;

constexpr std::uint32_t kTasks = 37;

TaskIndex index_of(const Rows& rows) { return {rows.task, kTasks}; }

// The rows of a resample written out: every row as often as its task was drawn.
Rows rescan(const Rows& rows, std::span<const std::uint8_t> counts) {
  Rows drawn;
  for (std::size_t r = 0; r < rows.p.size(); ++r) {
    for (int copy = 0; copy < counts[rows.task[r]]; ++copy) drawn.add(rows.p[r], rows.o[r], rows.task[r], rows.model[r]);
  }
  return drawn;
}

TEST(TaskResamples, EveryResampleDrawsAsManyTasksAsThereAre) {
  const TaskResamples resamples({.tasks = kTasks, .resamples = 500, .seed = 3});
  std::vector<int> occurrences(kTasks);
  for (std::size_t r = 0; r < resamples.resamples(); ++r) {
    int drawn = 0;
    for (std::size_t t = 0; t < kTasks; ++t) {
      drawn += resamples.counts(r)[t];
      occurrences[t] += resamples.counts(r)[t];
    }
    EXPECT_EQ(drawn, static_cast<int>(kTasks));
  }
  for (const int count : occurrences) EXPECT_NEAR(count, 500, 5.0 * std::sqrt(500.0));
}

TEST(TaskResamples, AResampleDependsOnSeedAndNumberAlone) {
  const TaskResamples few({.tasks = kTasks, .resamples = 10, .seed = 3});
  const TaskResamples many({.tasks = kTasks, .resamples = 100, .seed = 3});
  const TaskResamples other({.tasks = kTasks, .resamples = 10, .seed = 4});
  const auto ninth = [](const TaskResamples& resamples) {
    return std::vector<std::uint8_t>(resamples.counts(9).begin(), resamples.counts(9).end());
  };
  EXPECT_EQ(ninth(few), ninth(many));
  EXPECT_NE(ninth(few), ninth(other));
}

TEST(Bootstrap, EqualsARescanOfTheRows) {
  const Rows rows = test::sample_rows(51, kTasks);
  const TaskResamples resamples({.tasks = kTasks, .resamples = 203, .seed = 5});  // no multiple of the block or the tile
  const std::vector<TaskRows> ece_task_rows = {ece_rows(rows.view(), index_of(rows))};
  const std::vector<TaskRows> brier_task_rows = {brier_rows(rows.view(), index_of(rows))};
  const std::vector<TaskRows> log_loss_task_rows = {log_loss_rows(rows.view(), index_of(rows))};
  const Resampled eces = resample(resamples, ece_task_rows);
  const Resampled briers = resample(resamples, brier_task_rows);
  const Resampled log_losses = resample(resamples, log_loss_task_rows);
  for (std::size_t r = 0; r < resamples.resamples(); ++r) {
    const Rows drawn = rescan(rows, resamples.counts(r));
    EXPECT_NEAR(*eces[r], *ece(drawn.view()), 1e-12);
    EXPECT_NEAR(*briers[r], *brier(drawn.view()), 1e-12);
    EXPECT_NEAR(*log_losses[r], *log_loss(drawn.view()), 1e-12);
  }
  EXPECT_NEAR(*statistic(ece_task_rows), *ece(rows.view()), 1e-12);
  EXPECT_NEAR(*statistic(log_loss_task_rows), *log_loss(rows.view()), 1e-12);
}

TEST(Bootstrap, OrderingsAreAveragedAfterTheAbsoluteValue) {
  const Rows first = test::sample_rows(52, kTasks);
  const Rows second = test::sample_rows(53, kTasks);
  const TaskResamples resamples({.tasks = kTasks, .resamples = 50, .seed = 6});
  const std::vector<TaskRows> orderings = {ece_rows(first.view(), index_of(first)), ece_rows(second.view(), index_of(second))};
  const Resampled both = resample(resamples, orderings);
  for (std::size_t r = 0; r < both.size(); ++r) {
    const double expected = (*ece(rescan(first, resamples.counts(r)).view()) + *ece(rescan(second, resamples.counts(r)).view())) / 2.0;
    EXPECT_NEAR(*both[r], expected, 1e-12);
  }
}

TEST(TaskColumns, EmptyColumnsAndRepeatedOrderingsAreLeftOut) {
  Rows rows;
  for (std::uint32_t task = 0; task < kTasks; ++task) {
    rows.add(0.25, 1.0, task);
    rows.add(0.85, 0.0, task);
  }
  Rows other = rows;
  for (double& p : other.p) p += 0.05;  // the same bins
  const TaskRows first = ece_rows(rows.view(), index_of(rows));
  const TaskRows second = ece_rows(other.view(), index_of(other));
  EXPECT_EQ(TaskColumns(std::vector{first}).columns(), 3U);  // two bins of ten, and the denominator
  EXPECT_EQ(TaskColumns(std::vector{first, first, first}).columns(), 3U);
  EXPECT_EQ(TaskColumns(std::vector{first, second, first}).columns(), 5U);  // the denominator is shared
  const TaskResamples resamples({.tasks = kTasks, .resamples = 30, .seed = 6});
  const Resampled alone = resample(resamples, std::vector{first});
  const Resampled thrice = resample(resamples, std::vector{first, first, first});
  for (std::size_t r = 0; r < alone.size(); ++r) EXPECT_NEAR(*alone[r], *thrice[r], 1e-15);
}

TEST(Bootstrap, MeansMayBeAveragedOverOrderingsFirst) {
  const Rows first = test::sample_rows(54, kTasks);
  Rows second = first;
  for (double& p : second.p) p = 1.0 - p;
  const TaskResamples resamples({.tasks = kTasks, .resamples = 50, .seed = 7});
  const std::vector<TaskRows> orderings = {brier_rows(first.view(), index_of(first)), brier_rows(second.view(), index_of(second))};
  const Resampled separate = resample(resamples, orderings);
  const std::vector<TaskRows> mean = {mean_of_orderings(orderings)};
  const Resampled together = resample(resamples, mean);
  for (std::size_t r = 0; r < separate.size(); ++r) EXPECT_NEAR(*separate[r], *together[r], 1e-14);
}

TEST(Bootstrap, AnySplitGivesTheSameBits) {
  const Rows rows = test::sample_rows(55, kTasks);
  const TaskResamples resamples({.tasks = kTasks, .resamples = 131, .seed = 8});
  const std::vector<TaskRows> orderings = {ece_rows(rows.view(), index_of(rows), 6)};
  const Resampled whole = resample(resamples, orderings);
  const TaskColumns columns(orderings);
  Resampled pieces(whole.size());
  for (std::size_t first = 0; first < pieces.size(); first += 7) {
    const std::size_t size = std::min<std::size_t>(7, pieces.size() - first);
    resample_range(resamples, columns, first, std::span(pieces).subspan(first, size));
  }
  EXPECT_EQ(whole, pieces);
}

TEST(Bootstrap, AResampleWithoutRowsIsUndefined) {
  const std::vector<std::optional<double>> outcomes = {1.0, std::nullopt, std::nullopt};
  const std::vector<TaskRows> rows = {mean_rows(outcomes)};
  const TaskResamples resamples({.tasks = 3, .resamples = 200, .seed = 9});
  const Resampled means = resample(resamples, rows);
  int undefined = 0;
  for (std::size_t r = 0; r < means.size(); ++r) {
    EXPECT_EQ(means[r].has_value(), resamples.counts(r)[0] > 0);
    undefined += means[r] ? 0 : 1;
  }
  EXPECT_GT(undefined, 0);
  EXPECT_EQ(percentile_interval(means)->low, 1.0);
  EXPECT_FALSE(percentile_interval(Resampled(5)).has_value());
}

TEST(Bootstrap, ResolutionWeighsTasksByTheirContests) {
  std::vector<Resolution> per_task(2);
  per_task[0] = {.points = 3.0, .contests = 4};
  per_task[1] = {.points = 0.5, .contests = 1};
  const std::vector<TaskRows> rows = {resolution_rows(per_task)};
  EXPECT_EQ(*statistic(rows), 0.7);
  const TaskResamples resamples({.tasks = 2, .resamples = 20, .seed = 10});
  const Resampled values = resample(resamples, rows);
  for (std::size_t r = 0; r < values.size(); ++r) {
    const double first = resamples.counts(r)[0];
    const double second = resamples.counts(r)[1];
    EXPECT_EQ(*values[r], (3.0 * first + 0.5 * second) / (4.0 * first + second));
  }
}

// The mean of n values has the bootstrap standard deviation sqrt(variance / n): the interval must be 1.96 of those to each side.
TEST(Bootstrap, IntervalOfAMeanHasTheWidthTheorySays) {
  Random random(61);
  std::vector<std::optional<double>> outcomes;
  double sum = 0.0;
  double squares = 0.0;
  constexpr int kMany = 400;
  for (int i = 0; i < kMany; ++i) {
    outcomes.emplace_back(random.uniform());
    sum += *outcomes.back();
    squares += *outcomes.back() * *outcomes.back();
  }
  const double mean = sum / kMany;
  const double deviation = std::sqrt((squares / kMany - mean * mean) / kMany);
  const std::vector<TaskRows> rows = {mean_rows(outcomes)};
  const Interval interval = *percentile_interval(resample(TaskResamples({.tasks = kMany, .seed = 11}), rows));
  EXPECT_NEAR(interval.low, mean - 1.96 * deviation, 0.1 * deviation);
  EXPECT_NEAR(interval.high, mean + 1.96 * deviation, 0.1 * deviation);
}

// Datasets with a known truth: a states every row's probability and b is biased, so the expected difference in Brier score is known, and
// a 95% interval must hold it in 95% of the datasets. Rows of a task mostly share their luck: resampled row by row it would hold far less.
TEST(Bootstrap, A95PercentIntervalHoldsTheTruthIn95PercentOfDatasets) {
  constexpr std::uint32_t kMany = 200;
  constexpr int kDatasets = 1000;
  constexpr double kBias = 0.08;
  int held = 0;
  int above = 0;
  for (int dataset = 0; dataset < kDatasets; ++dataset) {
    Random random = Random::stream(71, static_cast<std::uint64_t>(dataset));
    Rows a;
    Rows b;
    for (std::uint32_t task = 0; task < kMany; ++task) {
      const double luck = random.uniform();
      for (int model = 0; model < 4; ++model) {
        const double truth = 0.1 + 0.8 * random.uniform();
        const double outcome = (random.chance(0.7) ? luck : random.uniform()) < truth ? 1.0 : 0.0;
        a.add(truth, outcome, task);
        b.add(truth + kBias, outcome, task);
      }
    }
    const TaskResamples resamples({.tasks = kMany, .resamples = 1000, .seed = static_cast<std::uint64_t>(dataset)});
    const TaskIndex index{a.task, kMany};
    const Difference difference = paired_difference(resample(resamples, std::vector{brier_rows(b.view(), index)}),
                                                    resample(resamples, std::vector{brier_rows(a.view(), index)}), Better::kLower);
    const double expected = kBias * kBias;  // E (p + bias - o)^2 - (p - o)^2 where E o = p
    held += difference.interval->low <= expected && expected <= difference.interval->high ? 1 : 0;
    above += difference.interval->low > expected ? 1 : 0;
  }
  // Of 1000 datasets, 950 with a standard deviation of sqrt(1000 * 0.95 * 0.05) = 6.9: three of them to each side.
  EXPECT_NEAR(held, 950, 21);
  // And it misses to both sides alike: 25 each, with a standard deviation of 4.9.
  EXPECT_NEAR(above, 25, 15);
}

Resampled resampled(int below, int above) {
  Resampled values;
  for (int i = 0; i < below; ++i) values.emplace_back(-1.0 - i);
  for (int i = 0; i < above; ++i) values.emplace_back(1.0 + i);
  return values;
}

TEST(Difference, WinLossAndTieFollowTheInterval) {
  const Resampled zero(1000, 0.0);
  EXPECT_EQ(paired_difference(resampled(1000, 0), zero, Better::kLower).verdict, Verdict::kWin);
  EXPECT_EQ(paired_difference(resampled(1000, 0), zero, Better::kHigher).verdict, Verdict::kLoss);
  EXPECT_EQ(paired_difference(resampled(0, 1000), zero, Better::kLower).verdict, Verdict::kLoss);
  EXPECT_EQ(paired_difference(resampled(0, 1000), zero, Better::kHigher).verdict, Verdict::kWin);
  EXPECT_EQ(paired_difference(resampled(960, 40), zero, Better::kLower).verdict, Verdict::kTie);
  EXPECT_EQ(paired_difference(resampled(980, 20), zero, Better::kLower).verdict, Verdict::kWin);
  EXPECT_EQ(paired_difference(zero, zero, Better::kLower).verdict, Verdict::kTie);
  EXPECT_EQ(paired_difference(zero, zero, Better::kLower).p_value, 1.0);
  EXPECT_FALSE(paired_difference(Resampled(3), Resampled(3), Better::kLower).interval.has_value());
}

TEST(Difference, PValueIsTwiceTheSmallerTail) {
  const Resampled zero(999, 0.0);
  EXPECT_NEAR(paired_difference(resampled(990, 9), zero, Better::kLower).p_value, 2.0 * 10.0 / 1000.0, 1e-15);
  EXPECT_NEAR(paired_difference(resampled(0, 999), zero, Better::kLower).p_value, 2.0 / 1000.0, 1e-15);
}

TEST(Difference, BeyondTheLastResampleThePValueIsANormalTail) {
  Resampled ten_deviations;
  for (int i = 0; i < 1000; ++i) ten_deviations.emplace_back(i % 2 == 0 ? 9.0 : 11.0);
  EXPECT_NEAR(paired_difference(ten_deviations, Resampled(1000, 0.0), Better::kLower).p_value, 1.523971e-23, 1e-28);
  // Differences that do not vary have no tail to speak of: then counting is all there is.
  EXPECT_NEAR(paired_difference(Resampled(999, 2.0), Resampled(999, 0.0), Better::kLower).p_value, 2.0 / 1000.0, 1e-15);
}

TEST(Difference, GapClosedSkipsPerfectBases) {
  const Resampled gaps = gap_closed({0.7, 0.7, std::nullopt}, {0.6, 0.8, 0.1}, {0.8, 0.8, 0.9});
  EXPECT_NEAR(*gaps[0], 0.5, 1e-12);
  EXPECT_FALSE(gaps[1].has_value());
  EXPECT_FALSE(gaps[2].has_value());
}

TEST(Holm, StepsDownAndNeverFalls) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  const std::vector<double> expected = {0.03, 0.06, 0.06, 0.02};
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-15);
  EXPECT_EQ(holm(std::vector<double>{0.9, 0.8}), (std::vector<double>{1.0, 1.0}));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace margin
