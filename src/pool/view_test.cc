// What a decision's view shows before and after its outcomes, and when it is gone.
#include "pool/pool_fixture.h"

namespace margin {
namespace {

TEST_F(PoolTest, ADecisionShowsItsOutcomesAndTheFeedbackTheyCameFrom) {
  const Event made = plan({{"a", "Paris", 0.9}, {"b", "Lyon", 0.6}, {"c", "Paris", std::nullopt}});
  EXPECT_FALSE(pool_.knows(made.id));
  EXPECT_FALSE(pool_.decision(made.id).has_value());
  apply(made);
  const Event feedback = event(OutcomeObserved{.decision = made.id, .grades = {{"a", 1.0}}});
  apply(feedback);

  ASSERT_TRUE(pool_.knows(made.id));
  const std::optional<DecisionView> view = pool_.decision(made.id);
  ASSERT_TRUE(view.has_value());
  ASSERT_EQ(view->responses.size(), 3U);
  const auto& recorded = std::get<DecisionMade>(made.body).responses;
  EXPECT_EQ(view->responses[0].model, "a");
  EXPECT_EQ(view->responses[0].channel, "verbalized");
  EXPECT_EQ(view->responses[0].calibrated, recorded[0].calibrated);
  EXPECT_EQ(view->responses[0].outcome, 1.0);
  EXPECT_EQ(view->responses[0].feedback, feedback.id);
  EXPECT_TRUE(view->responses[0].learned);
  EXPECT_EQ(view->responses[1].confidence, 0.6);
  EXPECT_EQ(view->responses[1].outcome, std::nullopt);
  EXPECT_FALSE(view->responses[2].usable);
}

TEST_F(PoolTest, TheLatestDecisionsComeOldestFirst) {
  std::vector<Uuid> made;
  for (int i = 0; i < 5; ++i) {
    const Event decision = plan({{"a", "Paris", 0.9}});
    apply(decision);
    made.push_back(decision.id);
  }
  EXPECT_EQ(pool_.latest_decisions(2), (std::vector<Uuid>{made[3], made[4]}));
  EXPECT_EQ(pool_.latest_decisions(9), made);
}

}  // namespace
}  // namespace margin
