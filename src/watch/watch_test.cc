// The sequential test against theory, and each detector on a small pool with one attacker. src/experiment/gaming_test.cc has the
// simulated cohorts.
#include "margin/watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "margin/random.h"
#include "watch/sequential_test.h"

namespace margin {
namespace {

using watch::SequentialTest;

// Six models, each right 8 times of 10 on its own, four answers.
constexpr std::uint32_t kModels = 6;
std::vector<WatchedResponse> honest_task(Random& random) {
  std::vector<WatchedResponse> task;
  for (std::uint32_t model = 0; model < kModels; ++model) {
    const bool right = random.chance(0.8);
    const auto wrong = static_cast<std::uint32_t>(1 + random.below(3));
    task.push_back({.model = model, .answer = right ? 0 : wrong, .outcome = right ? 1.0 : 0.0, .delay = random.uniform()});
  }
  return task;
}

// An honest pool for 600 tasks, then `foul` on every task.
template <class Foul>
std::vector<WatchReport> reports_after(Foul foul, std::uint32_t foul_tasks = 600, std::uint64_t seed = 1) {
  Random random(seed);
  Watch watch;
  for (std::uint32_t i = 0; i < 600 + foul_tasks; ++i) {
    std::vector<WatchedResponse> task = honest_task(random);
    if (i >= 600) foul(task, random);
    EXPECT_TRUE(watch.observe(task).ok());
  }
  return watch.reports();
}

std::vector<WatchKind> kinds(const std::vector<WatchReport>& reports) {
  std::vector<WatchKind> kinds;
  for (const WatchReport& report : reports) kinds.push_back(report.kind);
  return kinds;
}

TEST(SequentialTest, IsPassedNoMoreOftenThanPromisedWhileTheClaimHolds) {
  constexpr int kSteps = 400'000;
  for (const double p : {0.1, 0.5, 0.9}) {
    for (const double promised : {0.01, 0.002}) {
      Random random(7);
      SequentialTest rise, fall;
      int risen = 0, fallen = 0;
      for (int i = 0; i < kSteps; ++i) {
        const double x = random.chance(p) ? 1.0 : 0.0;
        if (rise.rise(x, p, 1, std::log(1.0 / promised))) ++risen;
        if (fall.fall(x, p, 1, std::log(1.0 / promised))) ++fallen;
      }
      EXPECT_LE(risen, promised * kSteps) << p;
      EXPECT_LE(fallen, promised * kSteps) << p;
      EXPECT_GT(risen + fallen, 0) << "the promise was not put to the test";
    }
  }
}

TEST(SequentialTest, IsPassedAsSoonAsTheoryExpects) {
  // Claimed 0.5, suspected and true 0.7: Wald's delay is the threshold over the divergence.
  const double divergence = 0.7 * std::log(0.7 / 0.5) + 0.3 * std::log(0.3 / 0.5);
  Random random(3);
  double delays = 0.0;
  constexpr int kRuns = 500;
  for (int run = 0; run < kRuns; ++run) {
    SequentialTest test;
    std::uint64_t task = 1;
    while (!test.rise(random.chance(0.7) ? 1.0 : 0.0, 0.5, task, 15.0)) ++task;
    delays += static_cast<double>(task) / kRuns;
  }
  EXPECT_NEAR(delays, 15.0 / divergence, 0.1 * 15.0 / divergence);
}

TEST(SequentialTest, EvidenceBeginsWhereTheMeanChanged) {
  SequentialTest test;
  for (std::uint64_t task = 1; task <= 100; ++task) EXPECT_FALSE(test.fall(1.0, 0.5, task, 3.0));
  std::optional<watch::Evidence> evidence;
  std::uint64_t task = 101;
  while (!evidence) evidence = test.fall(0.0, 0.5, task++, 3.0);
  EXPECT_EQ(evidence->since, 101);
  EXPECT_EQ(evidence->observations, task - 101);
  EXPECT_EQ(evidence->observed, 0.0);
  EXPECT_DOUBLE_EQ(evidence->log_ratio, static_cast<double>(evidence->observations) * std::log(0.7 / 0.5));
  EXPECT_FALSE(test.running());
}

TEST(Watch, HonestPoolIsNotReported) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_TRUE(reports_after([](auto&, auto&) {}, 600, seed).empty()) << seed;
  }
}

TEST(Watch, FallAfterALongRecordIsDriftAndDefection) {
  const auto reports = reports_after([](auto& task, Random& random) {
    if (random.chance(0.75)) task[2].outcome = 0.0;
  });
  ASSERT_GE(reports.size(), 2U);
  EXPECT_EQ(reports[0].kind, WatchKind::kDrift);
  EXPECT_EQ(reports[0].clock, 500U);
  EXPECT_EQ(reports[1].kind, WatchKind::kTrustThenDefect);
  EXPECT_EQ(reports[1].subject, 2U);
  EXPECT_NEAR(static_cast<double>(reports[1].since), 601.0, 10.0);
  EXPECT_LE(reports[1].at, 680U);
  EXPECT_NEAR(reports[1].reference, 0.8, 0.08);
  EXPECT_LT(reports[1].observed, 0.5);
  EXPECT_GE(reports[1].evidence, reports[1].threshold);
  EXPECT_DOUBLE_EQ(reports[1].threshold, std::log(4.0 * 5.0 * 4.0 / 1e-5)) << "subject number 3, after the pool and two models, four tests";
}

TEST(Watch, FallOfAllIsDriftAndNobodysDefection) {
  const auto reports = reports_after([](auto& task, Random& random) {
    for (WatchedResponse& response : task) {
      if (random.chance(0.6)) response.outcome = 0.0;
    }
  });
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0].subject, WatchReport::kPool);
  for (const WatchReport& report : reports) EXPECT_EQ(report.kind, WatchKind::kDrift);
}

TEST(Watch, FallThatOthersShareIsNoDefectionWhereThePoolHasNoRecord) {
  for (const bool shared : {false, true}) {
    Random random(1);
    Watch watch;
    for (std::uint32_t i = 0; i < 1000; ++i) {
      const bool later = i >= 600;
      const auto response = [&](std::uint32_t model, bool falls) {
        return WatchedResponse{.model = model, .outcome = random.chance(falls && later ? 0.2 : 0.9) ? 1.0 : 0.0};
      };
      // Beside model 0 stands a newcomer, and soon the next.
      const std::vector<WatchedResponse> task = {response(0, true), response(1 + i / 20, shared)};
      ASSERT_TRUE(watch.observe(task).ok());
      if (i % 20 == 19) watch.leave(1 + i / 20);
    }
    const std::vector<WatchKind> expected = {WatchKind::kDrift, WatchKind::kTrustThenDefect};
    EXPECT_EQ(kinds(watch.reports()), std::vector(expected.begin(), expected.end() - (shared ? 1 : 0)));
  }
}

TEST(Watch, RiseIsDriftAndNoDefection) {
  Random random(1);
  Watch watch;
  for (int i = 0; i < 1000; ++i) {
    auto task = honest_task(random);
    if (i < 600 && random.chance(0.6)) task[2].outcome = 0.0;
    ASSERT_TRUE(watch.observe(task).ok());
  }
  ASSERT_EQ(kinds(watch.reports()), std::vector{WatchKind::kDrift});
  EXPECT_EQ(watch.reports()[0].subject, 2U);
  EXPECT_GT(watch.reports()[0].observed, watch.reports()[0].reference);
}

TEST(Watch, WhoStaysAwayIsReportedOnceAndCounted) {
  const auto reports = reports_after([](auto& task, Random& random) {
    if (random.chance(0.6)) task.erase(task.begin() + 4);
  });
  ASSERT_EQ(kinds(reports), std::vector{WatchKind::kLowParticipation});
  EXPECT_EQ(reports[0].subject, 4U);
  EXPECT_GT(reports[0].times, 1U);
  EXPECT_GT(reports[0].last, reports[0].at);
}

TEST(Watch, WhoHasLeftDoesNotStayAway) {
  Random random(1);
  Watch watch;
  for (int i = 0; i < 600; ++i) {
    auto task = honest_task(random);
    if (i == 300) watch.leave(4);
    if (i >= 300) task.erase(task.begin() + 4);
    ASSERT_TRUE(watch.observe(task).ok());
  }
  EXPECT_TRUE(watch.reports().empty());
}

TEST(Watch, StayingAwayFromHardTasksIsToldFromStayingAway) {
  const auto reports = reports_after(
      [](auto& task, Random& random) {
        double right = 0.0;
        for (std::size_t i = 1; i < task.size(); ++i) right += task[i].outcome / 5.0;
        if (right < 0.7 && random.chance(0.6)) task.erase(task.begin());
      },
      1500);
  ASSERT_EQ(kinds(reports), std::vector{WatchKind::kAvoidsHardTasks});
  EXPECT_EQ(reports[0].subject, 0U);
}

TEST(Watch, ErrorsWhereOutcomesComeLateAreReported) {
  const auto late_errors = [](std::size_t first, std::size_t last) {
    return reports_after(
        [=](auto& task, Random&) {
          for (std::size_t i = first; i < last; ++i) {
            if (task[i].delay > 0.6 && static_cast<int>(100.0 * task[i].delay) % 2 == 0) task[i].outcome = 0.0;
          }
        },
        1500);
  };
  const auto alone = late_errors(3, 4);
  EXPECT_TRUE(std::any_of(alone.begin(), alone.end(),
                          [](const WatchReport& report) { return report.kind == WatchKind::kLagExploitation && report.subject == 3; }));
  for (const WatchReport& report : late_errors(0, kModels)) EXPECT_NE(report.kind, WatchKind::kLagExploitation) << "all alike";
}

TEST(Watch, CopiesAreReportedAsThatPairAlone) {
  const auto reports = reports_after(
      [](auto& task, Random& random) {
        if (!random.chance(0.9)) return;
        task[5].answer = task[1].answer;
        task[5].outcome = task[1].outcome;
      },
      1500);
  ASSERT_EQ(kinds(reports), std::vector{WatchKind::kCollusion});
  EXPECT_EQ(reports[0].subject, 1U);
  EXPECT_EQ(reports[0].other, 5U);
  EXPECT_NEAR(reports[0].reference, 1.0 / 3.0, 0.05);
  EXPECT_DOUBLE_EQ(reports[0].threshold, std::log(12.0 * 13.0 / 1e-5)) << "pair number 11, after the ten of five models and (0, 5)";
}

TEST(Watch, SameRightAnswersAreNoCollusion) {
  const auto reports = reports_after(
      [](auto& task, Random&) {
        if (task[1].outcome == 1.0) task[5] = {.model = 5, .answer = 0, .outcome = 1.0, .delay = task[5].delay};
      },
      1500);
  for (const WatchReport& report : reports) EXPECT_NE(report.kind, WatchKind::kCollusion);
}

// Source 1 turns outcomes around with a chance of `lies`, from response `start` on; else every source errs 1 time in 20.
std::vector<WatchReport> source_reports(std::uint32_t sources, double lies, int start = 0) {
  Random random(5);
  Watch watch;
  for (int i = 0; i < start + 1000; ++i) {
    const double truth = random.chance(0.7) ? 1.0 : 0.0;
    std::vector<SourceGrade> grades;
    for (std::uint32_t source = 0; source < sources; ++source) {
      const bool lying = source == 1 && i >= start;
      grades.push_back({source, random.chance(lying ? lies : 0.05) ? 1.0 - truth : truth});
    }
    EXPECT_TRUE(watch.grade(grades).ok());
  }
  return watch.reports();
}

TEST(Watch, TheSourceThatContradictsTheOthersIsReported) {
  const auto reports = source_reports(3, 0.5);
  ASSERT_EQ(kinds(reports), std::vector{WatchKind::kSourceDisagrees});
  EXPECT_EQ(reports[0].subject, 1U);
  EXPECT_TRUE(source_reports(3, 0.05).empty());
  EXPECT_TRUE(source_reports(2, 0.5).empty()) << "two cannot tell which of them is wrong";
}

TEST(Watch, SourcesAreNotBlamedForALiarWhoHadBeenHonest) {
  const auto reports = source_reports(3, 0.9, 3000);
  ASSERT_EQ(kinds(reports), std::vector{WatchKind::kSourceDisagrees});
  EXPECT_EQ(reports[0].subject, 1U);
}

TEST(Watch, RefusedTasksChangeNothing) {
  Watch watch({.models_max = 4, .sources_max = 2});
  const auto code = [&](std::vector<WatchedResponse> task) { return watch.observe(task).error().code; };
  EXPECT_EQ(code({{.model = 3, .outcome = 1.0}, {.model = 4, .outcome = 1.0}}), ErrorCode::kLimit);
  EXPECT_EQ(code({{.model = 1}, {.model = 1}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{.model = 1, .outcome = 1.5}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({{.model = 1, .outcome = 1.0, .delay = -1.0}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(watch.grade(std::vector<SourceGrade>{{0, 1.0}, {2, 1.0}}).error().code, ErrorCode::kLimit);
  EXPECT_EQ(watch.grade(std::vector<SourceGrade>{{0, 1.0}, {0, 1.0}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(watch.grade(std::vector<SourceGrade>{{0, -0.1}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(watch.tasks(), 0U);
  EXPECT_TRUE(watch.observe({}).ok());
  EXPECT_EQ(watch.tasks(), 1U);
}

TEST(Watch, OldReportsMakeRoomAndAreCounted) {
  Random random(1);
  Watch watch({.reports_max = 2});
  for (int i = 0; i < 4000; ++i) {
    const bool up = i / 400 % 2 == 0;
    const WatchedResponse response{.model = 0, .outcome = random.chance(up ? 0.95 : 0.1) ? 1.0 : 0.0};
    ASSERT_TRUE(watch.observe(std::span(&response, 1)).ok());
  }
  ASSERT_EQ(watch.reports().size(), 2U);
  EXPECT_GE(watch.dropped(), 7U);
  EXPECT_GT(watch.reports()[0].at, 2400U);
}

TEST(Watch, RestoredWatchGoesOnBitForBit) {
  Random random(5);
  Watch watch;
  const auto live = [&](Watch& one, Watch* other, int tasks) {
    for (int i = 0; i < tasks; ++i) {
      std::vector<WatchedResponse> task = honest_task(random);
      if (i % 3 == 0) task.pop_back();
      if (i > tasks / 2) task[0].outcome = 0.0;
      const std::vector<SourceGrade> grades = {{0, 1.0}, {1, 1.0}, {2, i % 2 == 0 ? 1.0 : 0.0}};
      for (Watch* each : {&one, other}) {
        if (each == nullptr) continue;
        ASSERT_TRUE(each->observe(task).ok());
        ASSERT_TRUE(each->grade(grades).ok());
      }
    }
  };
  live(watch, nullptr, 700);
  ASSERT_FALSE(watch.reports().empty());
  auto restored = restore_watch(watch.snapshot());
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_EQ(restored->digest(), watch.digest());
  EXPECT_EQ(restored->reports().size(), watch.reports().size());
  live(watch, &*restored, 700);
  EXPECT_EQ(restored->digest(), watch.digest());
  EXPECT_EQ(restored->reports().back().evidence, watch.reports().back().evidence);
}

TEST(Watch, CorruptSnapshotsAreRefused) {
  Random random(5);
  Watch watch;
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(watch.observe(honest_task(random)).ok());
  const std::string bytes = watch.snapshot();
  for (std::size_t size = 0; size < bytes.size(); size += 7) EXPECT_FALSE(restore_watch(bytes.substr(0, size)).ok()) << size;
  EXPECT_FALSE(restore_watch(bytes + '\0').ok());
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x80);
    auto restored = restore_watch(flipped);
    const bool goes_on = !restored.ok() || restored->observe(honest_task(random)).ok();
    EXPECT_TRUE(goes_on) << i;
  }
}

}  // namespace
}  // namespace margin
