// What the watch makes of simulated attackers and honest pools.
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

TEST(Gaming, ResultDoesNotDependOnTheNumberOfThreads) {
  const auto one = run_gaming({.runs = 2, .tasks = 400, .threads = {1}});
  const auto three = run_gaming({.runs = 2, .tasks = 400, .threads = {3}});
  for (std::size_t i = 0; i < one->size(); ++i) {
    EXPECT_EQ((*one)[i].delays, (*three)[i].delays);
    EXPECT_EQ((*one)[i].reported, (*three)[i].reported);
  }
}

}  // namespace
}  // namespace margin::experiment
