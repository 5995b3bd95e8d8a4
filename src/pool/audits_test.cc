// Decisions that name the responses they want graded.
#include <gtest/gtest.h>

#include <algorithm>

#include "pool/pool_fixture.h"

namespace margin {
namespace {

class AuditsTest : public PoolTest {
 protected:
  // The chances that a decision on `task` records, by response.
  std::vector<double> audits(const std::string& task, const AuditPlan& plan) {
    Question asked =
        question({{"a", "x"}, {"b", "x"}, {"c", "y"}, {"d", "z"}, {"e", "z", std::nullopt}, {"f", "y", 0.9, "verbalized", true}});
    asked.task = task;
    asked.audits = plan;
    const auto decision = pool_.decide(asked);
    EXPECT_TRUE(decision.ok());
    EXPECT_EQ(decision->selected_model, "a");
    std::vector<double> chances;
    for (const RecordedResponse& response : decision->responses) chances.push_back(response.audit);
    return chances;
  }
};

TEST_F(AuditsTest, OnlyUsableResponsesBesideTheSelectedAnswerAreNamed) {
  EXPECT_EQ(audits("t", {.rate = 1.0}), (std::vector<double>{0.0, 0.0, 1.0, 1.0, 0.0, 0.0}));
  EXPECT_EQ(audits("t", {}), std::vector<double>(6, 0.0));
}

TEST_F(AuditsTest, TheDrawIsTheTasksAndItsChanceIsRecorded) {
  const AuditPlan plan{.rate = 0.5, .seed = 3};
  std::size_t named = 0;
  for (int task = 0; task < 400; ++task) {
    const auto chances = audits(std::to_string(task), plan);
    EXPECT_EQ(chances, audits(std::to_string(task), plan));
    for (const double chance : chances) EXPECT_TRUE(chance == 0.0 || chance == 0.5);
    named += static_cast<std::size_t>(std::count(chances.begin(), chances.end(), 0.5));
  }
  EXPECT_NEAR(static_cast<double>(named), 400.0, 5.0 * 14.2);  // 800 draws: standard deviation 14.1
}

TEST_F(AuditsTest, ARateOutOfRangeIsRefused) {
  Question asked = question({{"a", "x"}});
  asked.audits.rate = 1.5;
  const auto decision = pool_.decide(asked);
  ASSERT_FALSE(decision.ok());
  EXPECT_TRUE(decision.error().message.starts_with("audits.rate: got 1.5"));
}

}  // namespace
}  // namespace margin
