// A pool that learns from feedback on some responses only: what is implied, what a later grade changes, what is never taught.
#include "margin/remedy.h"

#include <gtest/gtest.h>

#include "pool/pool_fixture.h"

namespace margin {
namespace {

using Names = std::vector<std::string>;

class RemedyPoolTest : public PoolTest {
 protected:
  void SetUp() override { configure({.remedy = "implied"}); }

  ApplyResult selected(Uuid decision, double outcome_value, double weight = 1.0) {
    return apply(OutcomeObserved{.decision = decision, .selected = outcome_value, .weight = weight});
  }
  // A reference calibrator that is told what the pool should have learned.
  static std::unique_ptr<Calibrator> reference(ModelId models) {
    auto calibrator = std::move(make_calibrator("margin", 1, {})).value();
    for (ModelId model = 0; model < models; ++model) calibrator->join(model);
    return calibrator;
  }
  static void tell(Calibrator& calibrator, ModelId model, double outcome_value, double weight = 1.0) {
    ASSERT_TRUE(calibrator.observe({.model = model, .confidence = 0.9, .outcome = outcome_value, .weight = weight}).ok());
  }
  void expect_equal(const Calibrator& calibrator, const Names& models) {
    for (ModelId model = 0; model < models.size(); ++model) {
      EXPECT_EQ(trust(models[model]), calibrator.calibrate(model, 0.9)) << models[model];
    }
  }
};

TEST_F(RemedyPoolTest, RightSelectionProvesTheOtherAnswersWrong) {
  const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  const ApplyResult result = outcome(task, {{"a", 1.0}});
  EXPECT_EQ(result.status, ApplyStatus::kApplied);
  EXPECT_EQ(result.learned, Names({"a"}));
  EXPECT_EQ(result.implied, Names({"b", "c"}));
  const auto expected = reference(3);
  tell(*expected, 0, 1.0);
  tell(*expected, 1, 1.0);
  tell(*expected, 2, 0.0);
  expect_equal(*expected, {"a", "b", "c"});
}

TEST_F(RemedyPoolTest, BesideAWrongSelectionTheUsualRateIsLearnedAndIsNoOutcome) {
  const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  EXPECT_EQ(selected(task, 0.0).implied, Names({"c"}));
  const auto expected = reference(3);
  tell(*expected, 0, 0.0);
  tell(*expected, 1, 0.0);
  tell(*expected, 2, 0.25);
  expect_equal(*expected, {"a", "b", "c"});
  EXPECT_EQ(pool_.decision(task)->responses[2].outcome, std::nullopt);
  EXPECT_EQ(pool_.pending_decisions(), 1U);
}

TEST_F(RemedyPoolTest, GradeThatContradictsWhatWasImpliedIsRecordedAndLearnedAsKnown) {
  const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  selected(task, 1.0);
  const ApplyResult late = outcome(task, {{"c", 1.0}});
  EXPECT_EQ(late.status, ApplyStatus::kApplied);
  EXPECT_EQ(late.learned, Names({"c"}));
  EXPECT_EQ(pool_.decision(task)->responses[2].outcome, 1.0);
  const auto expected = reference(3);
  for (const ModelId model : {0U, 1U}) tell(*expected, model, 1.0);
  tell(*expected, 2, 0.0);
  tell(*expected, 2, 1.0);
  expect_equal(*expected, {"a", "b", "c"});
  EXPECT_EQ(outcome(task, {{"c", 0.0}}).status, ApplyStatus::kConflict) << "a grade is final, an implication is not";
}

TEST_F(RemedyPoolTest, GradeThatConfirmsWhatWasImpliedIsRecordedAndNotLearnedAgain) {
  const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  selected(task, 1.0);
  const auto before = calibration(pool_);
  const ApplyResult late = outcome(task, {{"c", 0.0}});
  EXPECT_EQ(late.status, ApplyStatus::kApplied);
  EXPECT_TRUE(late.learned.empty());
  EXPECT_EQ(late.unlearned, Names({"c"}));
  EXPECT_EQ(pool_.decision(task)->responses[2].outcome, 0.0);
  EXPECT_TRUE(pool_.decision(task)->responses[2].learned);
  EXPECT_EQ(calibration(pool_), before);
}

TEST_F(RemedyPoolTest, GradeAfterAnEstimateIsAlwaysLearned) {
  const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  selected(task, 0.0);
  EXPECT_EQ(outcome(task, {{"c", 0.25}}).learned, Names({"c"})) << "equal to the estimate by chance";
}

TEST_F(RemedyPoolTest, GoldAnswerGradesEverybodyAndTeachesTheRateBesideWrongSelections) {
  const Uuid graded = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  const ApplyResult result = apply(OutcomeObserved{.decision = graded, .gold = "y"});
  EXPECT_EQ(result.learned, Names({"a", "b", "c"}));
  EXPECT_TRUE(result.implied.empty());

  const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  selected(task, 0.0);
  const auto expected = reference(3);
  for (int times = 0; times < 2; ++times) {
    for (const ModelId model : {0U, 1U}) tell(*expected, model, 0.0);
  }
  tell(*expected, 2, 1.0);
  tell(*expected, 2, (1.0 + 20.0 * 0.25) / (1.0 + 20.0));
  expect_equal(*expected, {"a", "b", "c"});
}

TEST_F(RemedyPoolTest, NothingIsImpliedWhereManyAnswersMayBeRight) {
  for (const AnswerKind kind : {AnswerKind::kExact, AnswerKind::kCode, AnswerKind::kChoice, AnswerKind::kMath, AnswerKind::kText}) {
    Question asked = question({{"a", "1"}, {"b", "1"}, {"c", "2"}});
    asked.kind = kind;
    const Event made = event(std::move(*pool_.decide(asked)));
    apply(made);
    EXPECT_EQ(selected(made.id, 1.0).implied.size(), kind == AnswerKind::kCode || kind == AnswerKind::kText ? 0U : 1U) << name_of(kind);
  }
}

TEST_F(RemedyPoolTest, EstimatedLessonsComeForEveryKind) {
  configure({.remedy = "estimated"});
  Question asked = question({{"a", "1"}, {"b", "1"}, {"c", "2"}});
  asked.kind = AnswerKind::kCode;
  const Event made = event(std::move(*pool_.decide(asked)));
  apply(made);
  EXPECT_EQ(selected(made.id, 1.0).implied, Names({"c"}));

  Remedy remedy(RemedyKind::kEstimated);
  std::vector<Lesson> lessons;
  const std::vector<TaskResponse> task = {{.model = 0, .confidence = 0.9, .selected = true, .outcome = 1.0},
                                          {.model = 1, .confidence = 0.9, .selected = true, .outcome = 1.0},
                                          {.model = 2, .confidence = 0.9, .propensity = 0.0}};
  remedy.learn(task, lessons);
  const auto expected = reference(3);
  for (const ModelId model : {0U, 1U, 2U}) tell(*expected, model, lessons[model].outcome);
  expect_equal(*expected, {"a", "b", "c"});
}

TEST_F(RemedyPoolTest, ImpliedLessonsWeighAsMuchAsTheFeedback) {
  const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  selected(task, 1.0, 0.5);
  const auto expected = reference(3);
  for (const ModelId model : {0U, 1U}) tell(*expected, model, 1.0, 0.5);
  tell(*expected, 2, 0.0, 0.5);
  expect_equal(*expected, {"a", "b", "c"});
}

TEST_F(RemedyPoolTest, WhatComesWhileFrozenImpliesNothingNorDoesItLater) {
  const Uuid task = decide({{"a", "x"}, {"b", "y"}, {"c", "z"}, {"d", "x"}});
  apply(LearningFrozen{});
  EXPECT_TRUE(selected(task, 1.0).implied.empty());
  apply(LearningResumed{});
  const ApplyResult late = outcome(task, {{"b", 0.0}});
  EXPECT_EQ(late.learned, Names({"b"}));
  EXPECT_TRUE(late.implied.empty());
}

TEST_F(RemedyPoolTest, ModelThatIsAwayIsTaughtNothingByImplication) {
  const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  leave("c");
  EXPECT_EQ(selected(task, 1.0).implied, Names{});
  join("c");
  EXPECT_EQ(outcome(task, {{"c", 0.0}}).learned, Names({"c"})) << "it never learned what was implied";
}

TEST_F(RemedyPoolTest, AuditTeachesTheRateOnceWhetherItComesFirstOrLast) {
  for (const bool audit_first : {true, false}) {
    pool_ = Pool();
    configure({.calibrator_parameters = {{"alpha", 1.0}}, .remedy = "implied", .audit_rate = 1.0});
    const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
    if (audit_first) outcome(task, {{"c", 1.0}});
    selected(task, 0.0);
    if (!audit_first) outcome(task, {{"c", 1.0}});
    outcome(task, {{"a", 0.0}, {"c", 1.0}});  // says it again
    selected(decide({{"e", "x"}, {"f", "x"}, {"d", "y"}}), 0.0);
    // With alpha 1 the accuracy is the last lesson: one of one was right, and 20 of the prior with 1 of 4.
    const FactorRow top = pool_.factors().back();
    EXPECT_EQ(top.model, "d");
    EXPECT_EQ(top.explanation.terms[0].value, (1.0 + 5.0) / (1.0 + 20.0)) << audit_first;
  }
}

TEST_F(RemedyPoolTest, RevertTakesBackWhatWasImplied) {
  const Uuid first = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  const Event settled = event(OutcomeObserved{.decision = first, .selected = 1.0});
  apply(settled);
  const Uuid second = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  selected(second, 0.0);
  EXPECT_EQ(revert(settled.id).status, ApplyStatus::kRefold);
  const Pool folded = fold(Pool(), log_);
  const auto expected = reference(3);
  for (const ModelId model : {0U, 1U}) tell(*expected, model, 0.0);
  tell(*expected, 2, 0.25);
  for (ModelId model = 0; model < 3; ++model) {
    EXPECT_EQ(*folded.calibrate(std::string(1, static_cast<char>('a' + model)), "verbalized", "", 0.9), expected->calibrate(model, 0.9));
  }
}

TEST_F(RemedyPoolTest, RestoredPoolGoesOnBitForBit) {
  for (const char* remedy : {"weighted", "implied", "estimated"}) {
    configure({.remedy = remedy, .audit_rate = 0.5});
    for (int i = 0; i < 20; ++i) {
      const Uuid task = decide({{"a", "x", 0.8}, {"b", i % 2 == 0 ? "x" : "y", 0.7}, {"c", "z", 0.6}});
      selected(task, i % 3 == 0 ? 0.0 : 1.0);
      if (i % 5 == 0) outcome(task, {{"c", i % 2 == 0 ? 1.0 : 0.0}});
    }
    auto copy = Pool::restore(pool_.snapshot());
    ASSERT_TRUE(copy.ok()) << copy.error().message;
    EXPECT_EQ(copy->digest(), pool_.digest()) << remedy;
    const Uuid task = decide({{"a", "x", 0.8}, {"b", "y", 0.7}, {"c", "z", 0.6}});
    const Event made = log_.back();
    copy->apply(made);
    const Event settled = event(OutcomeObserved{.decision = task, .selected = 0.0});
    copy->apply(settled);
    apply(settled);
    EXPECT_EQ(copy->digest(), pool_.digest()) << remedy;
  }
}

TEST_F(RemedyPoolTest, UnknownRemedyAndRateOutOfRangeAreRefused) {
  EXPECT_EQ(configure({.remedy = "implide"}).error->message, "remedy: no implide (did you mean implied?)");
  EXPECT_EQ(configure({.audit_rate = 1.5}).error->message, "audit_rate: got 1.5, expected a number in [0, 1]");
}

TEST_F(RemedyPoolTest, PoolsOwnAuditRateIsUsedWhereTheQuestionHasNone) {
  configure({.audit_rate = 1.0});
  Question asked = question({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  EXPECT_EQ(pool_.decide(asked)->responses[2].audit, 1.0);
  EXPECT_EQ(pool_.decide(asked)->audit_rate, 1.0);
  asked.audits.rate = 1e-9;
  EXPECT_EQ(pool_.decide(asked)->responses[2].audit, 0.0);
}

TEST_F(RemedyPoolTest, ProbeWantsEverybodyGraded) {
  Question asked = question({{"a", "x"}, {"b", "x"}, {"c", "y"}, {"d", "z"}});
  asked.probe = true;
  const auto decision = pool_.decide(asked);
  EXPECT_TRUE(decision->probe);
  EXPECT_EQ(decision->responses[2].audit, 1.0);
  EXPECT_EQ(decision->responses[3].audit, 1.0);
}

TEST_F(RemedyPoolTest, VoteLearnsTheSelectionsOutcomeAndNothingImpliedOrEstimated) {
  configure({.vote = "stacked", .vote_version = 2, .remedy = "implied"});
  auto vote = std::move(make_vote("stacked", 2, {})).value();
  for (const double outcome : {0.0, 1.0}) {
    const Uuid task = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
    const auto made = std::get<DecisionMade>(log_.back().body);
    selected(task, outcome);
    const std::vector<Ballot> ballots = {
        {0, 0, made.responses[0].calibrated}, {1, 0, made.responses[1].calibrated}, {2, 1, made.responses[2].calibrated}};
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    vote->learn(ballots, 2, std::vector<double>{outcome, outcome, unknown});
  }
  const auto next = pool_.decide(question({{"a", "x"}, {"c", "y"}}));
  const std::vector<Ballot> then = {{0, 0, next->responses[0].calibrated}, {2, 1, next->responses[1].calibrated}};
  Tally tally;
  vote->tally(then, 2, tally);
  EXPECT_EQ(next->share, tally.share);
}

}  // namespace
}  // namespace margin
