#include "margin/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "margin/answer.h"

namespace margin {
namespace {

std::vector<std::size_t> chosen(const AuditPlan& plan, std::uint64_t task, const std::vector<std::uint32_t>& answers,
                                std::uint32_t selected) {
  std::vector<std::size_t> responses;
  for (const Audit& audit : audits_of(plan, task, answers, selected)) responses.push_back(audit.response);
  return responses;
}

const std::vector<std::uint32_t> kAnswers = {0, 1, 1, 2, kNoAnswer};

TEST(AuditTest, OnlyResponsesBesideTheSelectedAnswerAreAskedFor) {
  EXPECT_EQ(chosen({.rate = 1.0, .seed = 3}, 8, kAnswers, 1), (std::vector<std::size_t>{0, 3, 4}));
  EXPECT_TRUE(chosen({.rate = 1.0, .seed = 3}, 8, kAnswers, kNoAnswer).empty());
  EXPECT_TRUE(chosen({.rate = 0.0, .seed = 3}, 8, kAnswers, 1).empty());
}

TEST(AuditTest, TheShareIsTheRateAndEachAuditRecordsIt) {
  const AuditPlan plan{.rate = 0.1, .seed = 5};
  constexpr int kTasks = 20000;
  double asked = 0.0;
  for (int task = 0; task < kTasks; ++task) {
    for (const Audit& audit : audits_of(plan, static_cast<std::uint64_t>(task), kAnswers, 1)) {
      EXPECT_EQ(audit.propensity, 0.1);
      asked += 1.0;
    }
  }
  const double draws = 3.0 * kTasks;
  EXPECT_NEAR(asked / draws, 0.1, 5.0 * std::sqrt(0.1 * 0.9 / draws));
}

TEST(AuditTest, AHigherRateAsksForTheSameAndMore) {
  for (std::uint64_t task = 0; task < 500; ++task) {
    const auto few = chosen({.rate = 0.1, .seed = 2}, task, kAnswers, 2);
    const auto many = chosen({.rate = 0.5, .seed = 2}, task, kAnswers, 2);
    EXPECT_TRUE(std::includes(many.begin(), many.end(), few.begin(), few.end()));
  }
}

TEST(AuditTest, ADrawDependsOnSeedAndTaskAndNotOnTheSelection) {
  std::size_t differ_by_seed = 0, differ_by_repetition = 0;
  const AuditPlan plan{.rate = 0.5, .seed = 2};
  for (std::uint64_t task = 0; task < 200; ++task) {
    EXPECT_EQ(chosen(plan, task, kAnswers, 1), chosen(plan, task, kAnswers, 1));
    differ_by_seed += chosen(plan, task, kAnswers, 1) != chosen({.rate = 0.5, .seed = 9}, task, kAnswers, 1);
    differ_by_repetition += chosen(repetition(plan, 0), task, kAnswers, 1) != chosen(repetition(plan, 1), task, kAnswers, 1);
    const auto has_3 = [&](std::uint32_t selected) {
      const auto responses = chosen(plan, task, kAnswers, selected);
      return std::find(responses.begin(), responses.end(), 3U) != responses.end();
    };
    EXPECT_EQ(has_3(0), has_3(1));
  }
  EXPECT_GT(differ_by_seed, 100U);
  EXPECT_GT(differ_by_repetition, 100U);
}

}  // namespace
}  // namespace margin
