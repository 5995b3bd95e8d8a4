#include "experiment/shift_pools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "dataset/simulate.h"
#include "experiment/stream.h"

namespace margin::experiment {
namespace {

// Two phases of the published cohort's simulation, nine models each.
Condition condition() {
  const auto simulation = dataset::simulate("paper", {.tasks = 40});
  const auto source = make_streams(simulation->log, {.phases = {"STEM"}});
  const auto target = make_streams(simulation->log, {.phases = {"HUM"}});
  return make_condition("STEM->HUM", source->front(), target->front());
}

std::vector<Entrant> entrants(std::vector<std::string> labels) {
  std::vector<Entrant> made;
  for (std::string& label : labels) {
    auto method = make_calibrator(label);
    made.push_back({std::move(label), std::move(method).value()});
  }
  return made;
}

TEST(ShiftPools, EveryModelAloneRandomDifferentSubsetsAndAll) {
  const Condition whole = condition();
  const std::size_t models = whole.stream.models.size();
  EXPECT_EQ(pools_of(whole, 1, 5, 1).size(), models);
  const auto pairs = pools_of(whole, 2, 5, 1);
  EXPECT_EQ(pairs.size(), 5U);
  EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), 5U);
  for (const auto& pair : pairs) EXPECT_EQ(std::set(pair.begin(), pair.end()).size(), 2U);
  EXPECT_NE(pairs, pools_of(whole, 2, 5, 2));
  ASSERT_EQ(pools_of(whole, 0, 5, 1).size(), 1U);
  EXPECT_EQ(pools_of(whole, 0, 5, 1).front().size(), models);
  EXPECT_EQ(pools_of(whole, models, 5, 1), pools_of(whole, 0, 5, 1));
  EXPECT_TRUE(pools_of(whole, models + 1, 5, 1).empty());
}

// As if the rows of the others had never been written.
TEST(ShiftPools, ASubsetScoresAsALogOfTheseModelsAlone) {
  const auto simulation = dataset::simulate("paper", {.tasks = 40});
  const Condition whole = condition();
  const std::vector<ModelId> pool = {1, 4};
  const std::vector<std::string> names = {whole.stream.models[1], whole.stream.models[4]};
  const auto source = make_streams(simulation->log, {.phases = {"STEM"}, .models = names});
  const auto target = make_streams(simulation->log, {.phases = {"HUM"}, .models = names});
  const Condition filtered_first = make_condition("STEM->HUM", source->front(), target->front());
  const auto vote = std::move(make_vote("sum")).value();
  const auto methods = entrants({"raw", "margin", "margin_adaptive", "platt_scaling"});
  const ShiftOptions options{.orderings = 3, .resamples = 50, .threads = {1}};
  const auto ours = run_shift(with_models(whole, pool), methods, *vote, options);
  const auto theirs = run_shift(filtered_first, methods, *vote, options);
  ASSERT_TRUE(ours && theirs);
  EXPECT_EQ(ours->tasks, theirs->tasks);
  EXPECT_EQ(ours->rows, theirs->rows);
  for (std::size_t i = 0; i < methods.size(); ++i) {
    EXPECT_EQ(ours->entrants[i].scores.mean, theirs->entrants[i].scores.mean) << methods[i].label;
    EXPECT_EQ(ours->entrants[i].ece, theirs->entrants[i].ece) << methods[i].label;
  }
}

TEST(ShiftPools, AGroupIsTheMeanOfItsConditionsAndKnowsItsBestRival) {
  const Condition whole = condition();
  const auto vote = std::move(make_vote("sum")).value();
  const auto methods = entrants({"raw", "margin", "margin_adaptive"});
  const ShiftOptions options{.orderings = 2, .resamples = 40, .threads = {1}};
  ShiftGroup group("Pools of 1", "margin_adaptive");
  std::vector<ConditionResult> results;
  for (const auto& pool : pools_of(whole, 1, 1, 1)) {
    results.push_back(run_shift(with_models(whole, pool), methods, *vote, options).value());
    ASSERT_TRUE(group.add(results.back()));
  }
  for (const Compared metric : kCompared) {
    std::vector<double> means(methods.size(), 0.0);
    std::vector<double> differences(40, 0.0);  // of the focus and the best rival, resample by resample
    for (const ConditionResult& result : results) {
      for (std::size_t i = 0; i < methods.size(); ++i)
        means[i] += mean_of(result.entrants[i], metric) / static_cast<double>(results.size());
    }
    const std::size_t best = means[0] < means[1] ? 0 : 1;
    for (const ConditionResult& result : results) {
      for (std::size_t b = 0; b < differences.size(); ++b) {
        differences[b] += (*resampled_of(result.entrants[2], metric)[b] - *resampled_of(result.entrants[best], metric)[b]) /
                          static_cast<double>(results.size());
      }
    }
    for (std::size_t i = 0; i < methods.size(); ++i) EXPECT_NEAR(group.mean(i, metric), means[i], 1e-12);
    const ShiftGroup::Contest contest = group.against_best(metric);
    EXPECT_EQ(contest.rival, methods[best].label);
    EXPECT_NEAR(contest.mean, means[2] - means[best], 1e-12);
    const Interval expected = percentile_interval(Resampled(differences.begin(), differences.end())).value();
    const double centre = std::accumulate(differences.begin(), differences.end(), 0.0) / static_cast<double>(differences.size());
    EXPECT_NEAR(contest.interval->low - contest.mean, expected.low - centre, 1e-12);
    EXPECT_NEAR(contest.interval->high - contest.mean, expected.high - centre, 1e-12);
    EXPECT_EQ(group.comparisons(metric).comparisons.size(), 2 * results.size());
  }
  EXPECT_FALSE(ShiftGroup("x", "nobody").add(results.front()));
}

}  // namespace
}  // namespace margin::experiment
