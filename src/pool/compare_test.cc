// A feedback beside what has been said already: what is new, the same, or otherwise; before and after the decision.
#include <gtest/gtest.h>

#include "pool/pool_fixture.h"

namespace margin {
namespace {

class CompareTest : public PoolTest {
 protected:
  Comparison compare(const OutcomeObserved& outcome) {
    auto compared = pool_.compare(outcome);
    EXPECT_TRUE(compared.ok()) << (compared.ok() ? "" : compared.error().message);
    return compared.ok() ? *compared : Comparison{};
  }
  // The id of a feedback that is applied.
  Uuid say(OutcomeObserved outcome) {
    const Event said = event(std::move(outcome));
    apply(said);
    return said.id;
  }
};

TEST_F(CompareTest, GradesAreFreshTheSameOrOtherwise) {
  const Uuid decision = decide({{"a", "x"}, {"b", "y"}});
  const Uuid first = say({.decision = decision, .grades = {{"a", 1.0}}, .source = "grader"});
  EXPECT_TRUE(compare({.decision = decision, .grades = {{"b", 1.0}}}).fresh);

  const Comparison same = compare({.decision = decision, .grades = {{"a", 1.0}}});
  EXPECT_FALSE(same.fresh);
  ASSERT_EQ(same.same.size(), 1U);
  EXPECT_EQ(same.same[0].feedback, first);

  const Comparison other = compare({.decision = decision, .grades = {{"a", 0.0}, {"b", 1.0}}});
  EXPECT_TRUE(other.known && other.fresh);
  ASSERT_EQ(other.contradicted.size(), 1U);
  EXPECT_EQ(other.contradicted[0].feedback, first);
  EXPECT_EQ(other.contradicted[0].source, "grader");
}

TEST_F(CompareTest, WhatWasTakenBackWasNeverSaid) {
  const Uuid decision = decide({{"a", "x"}});
  const Uuid first = say({.decision = decision, .grades = {{"a", 1.0}}});
  EXPECT_EQ(revert(first).status, ApplyStatus::kRefold);
  const Comparison compared = compare({.decision = decision, .grades = {{"a", 0.0}}});
  EXPECT_TRUE(compared.fresh && compared.contradicted.empty()) << "although the state still holds it";
}

TEST_F(CompareTest, FeedbackThatWaitsIsComparedFormByForm) {
  const Uuid decision = Uuid::make(now_, random_);
  const Uuid gold = say({.decision = decision, .gold = "1/2"});
  EXPECT_EQ(compare({.decision = decision, .gold = "1/2"}).same.at(0).feedback, gold);
  EXPECT_EQ(compare({.decision = decision, .gold = "Rome"}).contradicted.at(0).feedback, gold);
  const Comparison form = compare({.decision = decision, .selected = 1.0});
  EXPECT_TRUE(form.fresh && form.same.empty() && form.contradicted.empty()) << "only the decision can tell";
  const Comparison maybe = compare({.decision = decision, .gold = "0.5"});
  EXPECT_TRUE(maybe.fresh && maybe.contradicted.empty()) << "the same, if it is a task of mathematics";
  revert(gold);
  EXPECT_TRUE(compare({.decision = decision, .gold = "Rome"}).fresh);
}

TEST_F(CompareTest, GradesThatWaitAreComparedModelByModel) {
  const Uuid decision = Uuid::make(now_, random_);
  const Uuid first = say({.decision = decision, .grades = {{"a", 1.0}, {"b", 0.0}}});
  EXPECT_FALSE(compare({.decision = decision, .grades = {{"b", 0.0}}}).fresh);
  EXPECT_TRUE(compare({.decision = decision, .grades = {{"b", 0.0}, {"c", 0.0}}}).fresh);
  EXPECT_EQ(compare({.decision = decision, .grades = {{"b", 1.0}}}).contradicted.at(0).feedback, first);
}

TEST_F(CompareTest, FeedbackWithoutWeightIsCountedApart) {
  const Uuid decision = decide({{"a", "x"}});
  const Uuid mine = say({.decision = decision, .grades = {{"a", 0.0}}, .weight = 0.0, .source = "reader"});
  say({.decision = decision, .grades = {{"a", 0.0}}, .weight = 0.0, .source = "other"});
  const Comparison compared = compare({.decision = decision, .grades = {{"a", 1.0}}, .weight = 0.0, .source = "reader"});
  EXPECT_TRUE(compared.fresh);
  EXPECT_EQ(compared.ungraded, std::vector<Uuid>{mine});
  EXPECT_EQ(compared.ungraded_count, 2U);
}

TEST_F(CompareTest, WhatASourceSaysBeyondItsShareIsCountedApart) {
  configure({.source_share_max = 0.5});
  const std::vector<Grade> right{{"a", 1.0}};
  for (int i = 0; i < 10; ++i) outcome(decide({{"a", "x"}}), right, "greedy");
  const Uuid decision = decide({{"a", "x"}, {"b", "y"}});
  const OutcomeObserved statement{.decision = decision, .grades = right, .source = "greedy"};
  EXPECT_TRUE(compare(statement).capped);
  EXPECT_FALSE(compare({.decision = decision, .grades = {{"a", 1.0}, {"b", 1.0}}, .source = "greedy"}).capped) << "b learns";
  EXPECT_FALSE(compare({.decision = decision, .grades = right, .source = "other"}).capped);
  EXPECT_FALSE(compare({.decision = decision, .grades = right, .weight = 0.0, .source = "greedy"}).capped) << "has no share";

  const Uuid said = say(statement);
  const Comparison again = compare(statement);
  EXPECT_TRUE(again.fresh && again.capped) << "the response is open still";
  EXPECT_EQ(again.ungraded, std::vector<Uuid>{said}) << "although the watch has heard it";
  EXPECT_EQ(again.idle, 1U);
  say({.decision = decision, .grades = {{"b", 1.0}}, .source = "greedy"});
  EXPECT_EQ(compare(statement).idle, 1U) << "what grades somebody is not idle";
  EXPECT_EQ(compare({.decision = decision, .grades = right, .source = "other"}).ungraded_count, 1U);
}

// What compare says of the share beforehand is what apply then does, whoever is away, frozen or implied.
TEST_F(CompareTest, CappedIsWhatIsAppliedSo) {
  configure({.remedy = "implied", .source_share_max = 0.3});
  const std::vector<std::string> models{"a", "b", "c"};
  const auto model = [&] { return models[random_.below(models.size())]; };
  std::vector<Uuid> decisions;
  int capped = 0;
  for (int i = 0; i < 3000; ++i) {
    if (decisions.empty() || random_.chance(0.3)) decisions.push_back(decide({{"a", "x"}, {"b", "y"}, {"c", "x"}}));
    if (random_.chance(0.02)) leave(random_.chance(0.5) ? "b" : "c");
    if (random_.chance(0.1)) join(model());
    if (random_.chance(0.02)) apply(LearningFrozen{});
    if (random_.chance(0.1)) apply(LearningResumed{});
    OutcomeObserved statement{.decision = decisions[decisions.size() - 1 - random_.below(std::min<std::size_t>(decisions.size(), 8))],
                              .weight = random_.chance(0.1) ? 0.0 : 1.0,
                              .source = random_.chance(0.7) ? "greedy" : "user" + std::to_string(random_.below(6))};
    if (random_.chance(0.5)) {
      statement.selected = random_.chance(0.5) ? 1.0 : 0.0;
    } else {
      statement.grades = {{model(), random_.chance(0.5) ? 1.0 : 0.0}};
    }
    const Comparison before = compare(statement);
    if (!before.contradicted.empty()) continue;
    const ApplyResult result = apply(statement);
    const bool nobody = !result.capped.empty() && result.learned.empty() && result.unlearned.empty();
    ASSERT_EQ(before.capped, nobody) << i;
    capped += nobody ? 1 : 0;
  }
  EXPECT_GT(capped, 100);
}

TEST_F(CompareTest, WhatWasTakenBackOrWaitsKeepsItsPlace) {
  const Uuid decision = decide({{"a", "x"}});
  revert(say({.decision = decision, .grades = {{"a", 1.0}}, .source = "mine"}));
  EXPECT_EQ(compare({.decision = decision, .grades = {{"a", 0.0}}, .source = "mine"}).idle, 1U);
  EXPECT_EQ(compare({.decision = decision, .grades = {{"a", 0.0}}, .source = "other"}).idle, 0U);

  const Uuid later = Uuid::make(now_, random_);
  say({.decision = later, .grades = {{"a", 1.0}}, .source = "mine"});
  const Uuid weightless = say({.decision = later, .grades = {{"a", 0.0}}, .weight = 0.0, .source = "mine"});
  const Comparison waiting = compare({.decision = later, .grades = {{"b", 0.0}}, .source = "mine"});
  EXPECT_EQ(waiting.idle, 2U);
  EXPECT_EQ(waiting.ungraded, std::vector<Uuid>{weightless});
  EXPECT_FALSE(waiting.capped);
}

TEST_F(CompareTest, AGoldAnswerIsRefusedWhereTheAnswersWereNotKept) {
  Event made = plan({{"a", "x"}, {"b", "y"}});
  auto& answers = std::get<DecisionMade>(made.body).answers;
  for (std::size_t group = 0; group < answers.size(); ++group) answers[group] = unkept_answer(group);
  apply(made);
  const OutcomeObserved gold{.decision = made.id, .gold = "x"};
  EXPECT_EQ(pool_.compare(gold).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(pool_.resolve(gold).error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(pool_.resolve({.decision = made.id, .selected = 1.0}).ok());
}

}  // namespace
}  // namespace margin
