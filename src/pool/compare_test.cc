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
