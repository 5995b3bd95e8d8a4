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

TEST_F(PoolTest, ADecisionsOutcomeIsTheBestThatTheFirstToSaySoGaveItsAnswer) {
  const Event made = plan({{"a", "Paris", 0.9}, {"b", "Lyon", 0.6}, {"c", "Paris", 0.5}, {"d", "Paris", 0.4}});
  apply(made);
  const auto say = [&](std::vector<Grade> grades) {
    apply(OutcomeObserved{.decision = made.id, .grades = std::move(grades)});
    return pool_.decision(made.id)->outcome;
  };
  EXPECT_EQ(say({{"b", 0.0}}), std::nullopt);
  EXPECT_EQ(say({{"c", 0.0}, {"d", 0.25}}), 0.25);
  EXPECT_EQ(say({{"a", 1.0}}), 0.25);
  EXPECT_EQ(pool_.decision(made.id)->settled_by, pool_.decision(made.id)->responses[2].feedback);
}

TEST_F(PoolTest, WhatWasSaidLatelyIsFoundHoweverOldItsDecisions) {
  std::vector<Event> made;
  for (int i = 0; i < 2000; ++i) {
    made.push_back(plan({{"a", "Paris", 0.9}}));
    apply(made.back());
  }
  std::vector<Uuid> said;
  for (const std::size_t i : {7U, 3U, 1999U, 5U}) {
    ++now_;
    const Event feedback = event(OutcomeObserved{.decision = made[i].id, .selected = 1.0});
    apply(feedback);
    said.push_back(feedback.id);
  }
  const auto latest = [&](std::size_t count) {
    std::vector<Uuid> found;
    for (const Pool::Grading& one : pool_.latest_gradings(count)) found.push_back(one.feedback);
    return found;
  };
  EXPECT_EQ(latest(9), said);
  EXPECT_EQ(latest(2), (std::vector<Uuid>{said[2], said[3]}));
  EXPECT_EQ(pool_.latest_gradings(1)[0].decision, made[5].id);
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
