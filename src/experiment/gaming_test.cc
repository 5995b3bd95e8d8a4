// What the watch, and a calibrator's own clocks, make of simulated attackers and honest pools.
#include "experiment/gaming.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace margin::experiment {
namespace {

constexpr std::size_t kGaming = 1;  // the kinds from here on; drift is no gaming

const std::vector<GamingResult>& results() {
  static const std::vector<GamingResult> results = *run_gaming({.runs = 30, .tasks = 2000, .seed = 20'001});
  return results;
}

const GamingResult& result_of(std::string_view name) {
  return *std::find_if(results().begin(), results().end(), [&](const GamingResult& result) { return result.scenario.name == name; });
}

TEST(Gaming, EveryAttackerIsReported) {
  for (const GamingResult& result : results()) {
    if (!result.scenario.kind) continue;
    EXPECT_GE(10 * result.found, 9 * result.runs) << result.scenario.name;
    ASSERT_EQ(result.delays.size(), result.found);
    EXPECT_LE(result.delays[result.found / 2], 400U) << result.scenario.name;
  }
}

TEST(Gaming, CollapseIsReportedWithinAHundredTasks) {
  ASSERT_FALSE(result_of("defector").delays.empty());
  EXPECT_LE(result_of("defector").delays.back(), 100U);
}

TEST(Gaming, NobodyIsReportedForWhatAnotherDid) {
  // 11 pools of 30 runs of 2000 tasks: the promise allows 6.6 reports of a kind; 3 standard deviations more are chance.
  for (std::size_t kind = kGaming; kind < kWatchKinds; ++kind) {
    std::uint64_t runs = 0;
    for (const GamingResult& result : results()) runs += result.reported[kind];
    EXPECT_LE(runs, 14U) << watch_kind_name(static_cast<WatchKind>(kind));
  }
}

TEST(Gaming, ChangeInAllCasesAlikeIsSeldomTakenForOneInSpecialCases) {
  EXPECT_LE(10 * result_of("absentee").reported[static_cast<std::size_t>(WatchKind::kAvoidsHardTasks)], result_of("absentee").runs);
  EXPECT_LE(10 * result_of("defector").reported[static_cast<std::size_t>(WatchKind::kLagExploitation)], result_of("defector").runs);
}

TEST(Gaming, FalseReportsKeepThePromiseWhenMoreAreAllowed) {
  GamingOptions options{.tasks = 2000};
  options.watch.false_reports_per_task = 0.05;
  constexpr std::uint32_t kRuns = 60;
  std::array<std::uint64_t, kWatchKinds> reports{};
  for (std::uint32_t run = 0; run < kRuns; ++run) {
    for (const WatchReport& report : watch_scenario(gaming_scenarios()[0], options, 30'001 + run)) {
      reports[static_cast<std::size_t>(report.kind)] += report.times;
    }
  }
  std::uint64_t all = 0;
  for (const std::uint64_t count : reports) {
    EXPECT_LE(count, kRuns * 100);  // 2000 tasks at 0.05
    all += count;
  }
  EXPECT_GT(all, 0U) << "the promise was not put to the test";
}

TEST(Gaming, AccuracyThatChangesAtOnceIsDriftAndThatOfASteadyPoolIsNot) {
  constexpr auto kDrift = static_cast<std::size_t>(WatchKind::kDrift);
  EXPECT_EQ(result_of("abrupt").reported[kDrift], result_of("abrupt").runs);
  EXPECT_EQ(result_of("defector").reported[kDrift], result_of("defector").runs);
  EXPECT_LE(result_of("stationary").reported[kDrift], 1U);
}

const ClockTally& clock_of(std::string_view pool, std::string_view whose) {
  const std::vector<ClockTally>& clocks = result_of(pool).clocks;
  return *std::find_if(clocks.begin(), clocks.end(), [&](const ClockTally& tally) { return tally.whose == whose; });
}

// 200 other runs had 0.94 alarms of models per 1,000 tasks and 0.01 of the pool: of these 60,000 tasks 56 and 0.6 are expected, and the
// bounds are more than four standard deviations away. They are heard at all, so the silence of the pool's is news.
TEST(Clocks, AreSeldomHeardInAStationaryPool) {
  const auto alarms = [](std::string_view whose) {
    const ClockTally& tally = clock_of("stationary", whose);
    return tally.alarms[0] + tally.alarms[1];
  };
  EXPECT_LE(alarms("the pool's"), 6U);
  EXPECT_LE(alarms("the models'"), 90U);
  EXPECT_GT(alarms("the models'"), 0U);
}

TEST(Clocks, ModelThatCollapsesIsNoticedWithinFiftyTasksByItsOwnAlone) {
  const ClockTally& own = clock_of("defector", "its own");
  ASSERT_EQ(own.delays.size(), result_of("defector").runs);
  EXPECT_LE(own.delays.back(), 50U);
  EXPECT_LE(10 * clock_of("defector", "the pool's").soon[1], result_of("defector").runs);
  EXPECT_LE(4 * clock_of("defector", "the others'").soon[1], result_of("defector").runs);
}

TEST(Clocks, FallOfAllIsNoticedByThePools) {
  const ClockTally& pool = clock_of("abrupt", "the pool's");
  EXPECT_GE(10 * pool.soon[1], 9 * result_of("abrupt").runs);
  EXPECT_LE(10 * pool.soon[0], result_of("abrupt").runs);
}

TEST(Clocks, TallyToldByHand) {
  const auto at = [](std::uint64_t task, ModelId model) { return ClockAlarmAt{task, {.model = model}}; };
  const std::vector<std::vector<ClockAlarmAt>> runs = {
      {at(400, 1), at(401, 0), at(500, 1), at(501, 1), at(700, 1)}, {at(601, ClockAlarm::kPool), at(600, 0)}, {at(400, 0), at(502, 0)}};
  const std::vector<ClockTally> tallies = tally_clocks(runs, 1000, 0);
  ASSERT_EQ(tallies.size(), 3U);
  const ClockTally &pool = tallies[0], &others = tallies[1], &own = tallies[2];
  EXPECT_EQ(pool.alarms, (std::array<std::uint64_t, 2>{0, 1}));
  EXPECT_EQ(pool.soon, (std::array<std::uint32_t, 2>{0, 0}));
  EXPECT_EQ(pool.delays, (std::vector<std::uint64_t>{101}));
  EXPECT_EQ(others.alarms, (std::array<std::uint64_t, 2>{2, 2}));
  EXPECT_EQ(others.soon, (std::array<std::uint32_t, 2>{1, 1}));
  EXPECT_EQ(others.delays, (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(own.alarms, (std::array<std::uint64_t, 2>{2, 2}));
  EXPECT_EQ(own.soon, (std::array<std::uint32_t, 2>{1, 2}));
  EXPECT_EQ(own.delays, (std::vector<std::uint64_t>{2, 100}));
}

TEST(Gaming, ResultDoesNotDependOnTheNumberOfThreads) {
  const auto one = run_gaming({.runs = 2, .tasks = 400, .threads = {1}});
  const auto three = run_gaming({.runs = 2, .tasks = 400, .threads = {3}});
  for (std::size_t i = 0; i < one->size(); ++i) {
    EXPECT_EQ((*one)[i].delays, (*three)[i].delays);
    EXPECT_EQ((*one)[i].reported, (*three)[i].reported);
    ASSERT_EQ((*one)[i].clocks.size(), (*three)[i].clocks.size());
    for (std::size_t k = 0; k < (*one)[i].clocks.size(); ++k) EXPECT_EQ((*one)[i].clocks[k].delays, (*three)[i].clocks[k].delays);
  }
}

}  // namespace
}  // namespace margin::experiment
