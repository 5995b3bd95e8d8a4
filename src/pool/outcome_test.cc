// Outcomes: late, twice, early, for the unknown, the departed and the unusable; frozen learning; the three forms.
#include <gtest/gtest.h>

#include "pool/pool_fixture.h"

namespace margin {
namespace {

using OutcomeTest = PoolTest;
using Names = std::vector<std::string>;

// margin, defaults, first observation c = 0.9 wrong in band 2 (midpoint 5/6): a = 0.96 * 5/6, cbar = 0.96 * 5/6 + 0.04 * 0.9. The model
// factor is the same quotient, so shrinkage changes nothing.
constexpr double kOnceWrong = 0.9 * (0.96 * 5 / 6) / (0.96 * 5 / 6 + 0.04 * 0.9);

TEST_F(OutcomeTest, IsLearnedByTheGradedModelOnly) {
  const Uuid decision = decide({{"a", "x"}, {"b", "y"}});
  const ApplyResult result = outcome(decision, {{"a", 0.0}});
  EXPECT_EQ(result.status, ApplyStatus::kApplied);
  EXPECT_EQ(result.learned, Names{"a"});
  EXPECT_NEAR(trust("a"), kOnceWrong, 1e-15);
  EXPECT_EQ(trust("b"), 0.9);
}

TEST_F(OutcomeTest, ComesLateAndIsLearned) {
  const Uuid decision = decide({{"a", "x"}});
  advance(pool_.config().pending_ms_max);
  EXPECT_EQ(outcome(decision, {{"a", 0.0}}).status, ApplyStatus::kApplied);
  EXPECT_NEAR(trust("a"), kOnceWrong, 1e-15);
}

TEST_F(OutcomeTest, AfterExpiryTeachesNothing) {
  const Uuid decision = decide({{"a", "x"}});
  advance(pool_.config().pending_ms_max + 1);
  EXPECT_EQ(outcome(decision, {{"a", 0.0}}).status, ApplyStatus::kExpired);
  EXPECT_EQ(trust("a"), 0.9);
  EXPECT_EQ(pool_.pending_decisions(), 0U);
}

TEST_F(OutcomeTest, ExpiryIsByEventTimeNotByTheIdsTime) {
  Event made = plan({{"a", "x"}});
  made.time_ms += kDay;  // appended a day after its id was made
  apply(made);
  now_ = made.time_ms + pool_.config().pending_ms_max;
  EXPECT_EQ(outcome(made.id, {{"a", 0.0}}).status, ApplyStatus::kApplied);
}

TEST_F(OutcomeTest, TwiceIsLearnedOnce) {
  const Uuid decision = decide({{"a", "x"}});
  outcome(decision, {{"a", 0.0}});
  const ApplyResult again = outcome(decision, {{"a", 0.0}});
  EXPECT_EQ(again.status, ApplyStatus::kDuplicate);
  EXPECT_TRUE(again.learned.empty());
  EXPECT_NEAR(trust("a"), kOnceWrong, 1e-15);
}

TEST_F(OutcomeTest, ThatContradictsIsAConflictAndTeachesNobody) {
  const Uuid decision = decide({{"a", "x"}, {"b", "y"}});
  outcome(decision, {{"a", 0.0}});
  const ApplyResult other = outcome(decision, {{"b", 0.0}, {"a", 1.0}});
  EXPECT_EQ(other.status, ApplyStatus::kConflict);
  EXPECT_EQ(other.error->code, ErrorCode::kConflict);
  EXPECT_NEAR(trust("a"), kOnceWrong, 1e-15);
  EXPECT_EQ(trust("b"), 0.9);
}

TEST_F(OutcomeTest, InPartsCompletesTheDecision) {
  const Uuid decision = decide({{"a", "x"}, {"b", "y"}});
  outcome(decision, {{"a", 0.0}});
  EXPECT_EQ(pool_.pending_decisions(), 1U);
  EXPECT_EQ(outcome(decision, {{"a", 0.0}, {"b", 0.0}}).learned, Names{"b"});
  EXPECT_EQ(pool_.pending_decisions(), 0U);
  EXPECT_NEAR(trust("a"), kOnceWrong, 1e-15);
}

TEST_F(OutcomeTest, BeforeTheDecisionIsKeptAndJoined) {
  const Event made = plan({{"a", "x"}});
  EXPECT_EQ(outcome(made.id, {{"a", 0.0}}).status, ApplyStatus::kPendingDecision);
  EXPECT_EQ(pool_.early_outcomes(), 1U);
  const ApplyResult joined = apply(made);
  EXPECT_EQ(joined.learned, Names{"a"});
  ASSERT_EQ(joined.joined.size(), 1U);
  EXPECT_EQ(joined.joined[0].learned, Names{"a"});
  EXPECT_EQ(pool_.early_outcomes(), 0U);
  EXPECT_NEAR(trust("a"), kOnceWrong, 1e-15);
}

TEST_F(OutcomeTest, EarlyOnesAreJoinedInTheOrderTheyCame) {
  const Event made = plan({{"a", "x"}});
  outcome(made.id, {{"a", 0.0}});
  const Event second = feedback(made.id, {{"a", 1.0}});
  apply(second);
  const ApplyResult result = apply(made);
  EXPECT_EQ(result.dropped, std::vector<Uuid>{second.id});
  EXPECT_EQ(result.joined.size(), 1U);
  EXPECT_NEAR(trust("a"), kOnceWrong, 1e-15);
}

TEST_F(OutcomeTest, EarlyOnesThatWereTakenBackDoNotWaitAndKeepTheirPlace) {
  const Event made = plan({{"a", "x"}, {"b", "x"}});
  const Event back = feedback(made.id, {{"a", 0.0}, {"b", 0.0}});
  apply(back);
  outcome(made.id, {{"a", 1.0}});
  apply(OutcomeReverted{.feedback = back.id, .source = ""});
  EXPECT_EQ(pool_.waiting_outcomes(), 1U);
  EXPECT_EQ(pool_.early_outcomes(), 3U);
  EXPECT_EQ(Pool::restore(pool_.snapshot())->waiting_outcomes(), 1U);
  apply(made);
  EXPECT_EQ(pool_.waiting_outcomes(), 0U);
  const Event other = plan({{"a", "x"}});
  const Event again = feedback(other.id, {{"a", 0.0}});
  apply(again);
  apply(OutcomeReverted{.feedback = again.id, .source = ""});
  EXPECT_EQ(pool_.early_outcomes(), 1U);
  advance(pool_.config().pending_ms_max + 1);
  join("c");
  EXPECT_EQ(pool_.early_outcomes(), 0U);
  EXPECT_EQ(pool_.waiting_outcomes(), 0U);
}

TEST_F(OutcomeTest, EarlyOneThatDoesNotFitItsDecisionIsDropped) {
  const Event made = plan({{"a", "x"}});
  const Event stranger = feedback(made.id, {{"nobody", 0.0}});
  EXPECT_EQ(apply(stranger).status, ApplyStatus::kPendingDecision);
  EXPECT_EQ(apply(made).dropped, std::vector<Uuid>{stranger.id});
}

TEST_F(OutcomeTest, EarlyOneExpiresByEventTime) {
  const Event made = plan({{"a", "x"}});
  outcome(made.id, {{"a", 0.0}});
  advance(pool_.config().pending_ms_max + 1);
  join("b");
  EXPECT_EQ(pool_.early_outcomes(), 0U);
  Event late = made;
  late.time_ms = now_;
  EXPECT_TRUE(apply(late).learned.empty());
}

TEST_F(OutcomeTest, OfAnUnknownDecisionWaitsUnlessItsIdIsOld) {
  EXPECT_EQ(outcome(Uuid::make(now_, random_), {{"a", 1.0}}).status, ApplyStatus::kPendingDecision);
  EXPECT_EQ(outcome(Uuid::make(now_ - pool_.config().pending_ms_max, random_), {{"a", 1.0}}).status, ApplyStatus::kPendingDecision);
  EXPECT_EQ(outcome(Uuid::make(now_ - pool_.config().pending_ms_max - 1, random_), {{"a", 1.0}}).status, ApplyStatus::kExpired);
  EXPECT_EQ(outcome(Uuid{42, 42}, {{"a", 1.0}}).status, ApplyStatus::kPendingDecision) << "an id without time is never old";
}

TEST_F(OutcomeTest, OfADepartedModelIsRecordedNotLearned) {
  const Uuid decision = decide({{"a", "x"}, {"b", "x"}});
  leave("a");
  const ApplyResult result = outcome(decision, {{"a", 0.0}, {"b", 0.0}});
  EXPECT_EQ(result.learned, Names{"b"});
  EXPECT_EQ(result.unlearned, Names{"a"});
  join("a");
  EXPECT_EQ(trust("a"), 0.9);
  EXPECT_EQ(outcome(decision, {{"a", 0.0}}).status, ApplyStatus::kDuplicate);
}

TEST_F(OutcomeTest, OfAnUnusableOrAbstainedResponseIsNotLearned) {
  const Uuid decision = decide({{"a", "x", std::nullopt}, {"b", "x", 0.9, "verbalized", true}, {"c", "x"}});
  const ApplyResult result = outcome(decision, {{"a", 1.0}, {"b", 1.0}, {"c", 1.0}});
  EXPECT_EQ(result.learned, Names{"c"});
  EXPECT_EQ(result.unlearned, (Names{"a", "b"}));
  EXPECT_EQ(pool_.present_models(), Names{"c"});
}

TEST_F(OutcomeTest, WhileFrozenIsRecordedNotLearned) {
  const Uuid first = decide({{"a", "x"}});
  const Uuid second = decide({{"a", "x"}});
  EXPECT_EQ(apply(LearningFrozen{}).status, ApplyStatus::kApplied);
  EXPECT_TRUE(pool_.frozen());
  EXPECT_EQ(outcome(first, {{"a", 0.0}}).unlearned, Names{"a"});
  EXPECT_EQ(trust("a"), 0.9);
  EXPECT_EQ(apply(LearningResumed{}).status, ApplyStatus::kApplied);
  EXPECT_EQ(outcome(first, {{"a", 0.0}}).status, ApplyStatus::kDuplicate);
  EXPECT_EQ(outcome(second, {{"a", 0.0}}).learned, Names{"a"});
}

TEST_F(OutcomeTest, GoldAnswerGradesEveryUsableResponse) {
  const Uuid decision = decide({{"a", "Paris"}, {"b", "Lyon"}, {"c", ""}, {"d", "Paris", std::nullopt}});
  const OutcomeObserved gold{.decision = decision, .gold = "Paris"};
  const auto grades = pool_.resolve(gold);
  ASSERT_TRUE(grades.ok());
  ASSERT_EQ(grades->size(), 3U);
  EXPECT_EQ((*grades)[0].outcome, 1.0);
  EXPECT_EQ((*grades)[1].outcome, 0.0);
  EXPECT_EQ((*grades)[2].outcome, 0.0) << "no answer is a wrong answer";
  EXPECT_EQ(apply(gold).learned, (Names{"a", "b", "c"}));
}

TEST_F(OutcomeTest, GoldAnswerIsComparedByTheTasksKindEvenWhenEarly) {
  Question asked = question({{"a", "The  Paris!"}});
  asked.kind = AnswerKind::kText;
  const Event made = event(*pool_.decide(asked));
  apply(OutcomeObserved{.decision = made.id, .gold = "paris"});
  EXPECT_EQ(apply(made).learned, Names{"a"});
  EXPECT_GT(trust("a"), 0.9);
}

TEST_F(OutcomeTest, OfTheSelectedAnswerGradesItsSupportersOnly) {
  const Uuid decision = decide({{"a", "x", 0.6}, {"b", "y", 0.7}, {"c", "x", 0.6}});
  EXPECT_EQ(apply(OutcomeObserved{.decision = decision, .selected = 0.0}).learned, (Names{"a", "c"}));
  EXPECT_EQ(pool_.pending_decisions(), 1U);
}

TEST_F(OutcomeTest, OfTheSelectedAnswerIsRefusedWhenNothingWasSelected) {
  const Uuid decision = decide({{"a", ""}});
  EXPECT_EQ(apply(OutcomeObserved{.decision = decision, .selected = 1.0}).error->code, ErrorCode::kInvalidArgument);
}

TEST_F(OutcomeTest, ResolvedGradesTeachWhatTheGoldAnswerTeaches) {
  const Uuid decision = decide({{"a", "x", 0.9, "verbalized"}, {"a", "y", 0.8, "consistency"}, {"b", "x"}});
  const OutcomeObserved gold{.decision = decision, .gold = "x"};
  auto twin = Pool::restore(pool_.snapshot());
  ASSERT_TRUE(twin.ok()) << twin.error().message;
  const Event by_gold = event(gold);
  Event by_grades = by_gold;
  by_grades.body = OutcomeObserved{.decision = decision, .grades = *pool_.resolve(gold)};
  EXPECT_EQ(pool_.apply(by_gold).status, ApplyStatus::kApplied);
  EXPECT_EQ(twin->apply(by_grades).status, ApplyStatus::kApplied);
  EXPECT_EQ(pool_.digest(), twin->digest());
  EXPECT_GT(trust("a"), 0.9);
  EXPECT_LT(trust("a", "", "consistency"), 0.9);
}

TEST_F(OutcomeTest, WeightSlowsLearning) {
  const Uuid decision = decide({{"a", "x"}});
  apply(OutcomeObserved{.decision = decision, .grades = {{"a", 0.0}}, .weight = 0.5});
  const double rate = 1.0 - 0.9797958971132712;  // 1 - sqrt(0.96)
  EXPECT_NEAR(trust("a"), 0.9 * (1 - rate) * 5 / 6 / ((1 - rate) * 5 / 6 + rate * 0.9), 1e-14);
}

TEST_F(OutcomeTest, MalformedIsRefusedByField) {
  const Uuid decision = decide({{"a", "x"}});
  const auto message = [&](OutcomeObserved bad) {
    bad.decision = decision;
    const ApplyResult result = apply(bad);
    EXPECT_EQ(result.status, ApplyStatus::kRefused);
    return result.error ? result.error->message : std::string();
  };
  EXPECT_TRUE(message({}).starts_with("outcome: expected exactly one"));
  EXPECT_TRUE(message({.grades = {{"a", 1.0}}, .gold = "x"}).starts_with("outcome: expected exactly one"));
  EXPECT_TRUE(message({.grades = {{"a", 1.5}}}).starts_with("grades[0].outcome: got 1.5"));
  EXPECT_TRUE(message({.grades = {{"a", 1.0}}, .weight = -0.5}).starts_with("weight: got -0.5"));
  EXPECT_TRUE(message({.grades = {{"z", 1.0}}}).starts_with("grades[0].model: z did not answer"));
  EXPECT_TRUE(message({.grades = {{"a", 1.0}, {"a", 1.0}}}).starts_with("grades[1].model: a is graded twice"));
  EXPECT_TRUE(message({.grades = {{"a", 1.0, "consistency"}}}).starts_with("grades[0].model: a did not answer"));
  EXPECT_TRUE(message({.selected = -0.1}).starts_with("selected: got -0.1"));
  EXPECT_EQ(trust("a"), 0.9);
}

TEST_F(PoolTest, AnOutcomeWithoutWeightGradesNobodyAndBlocksNobody) {
  const Event made = plan({{"a", "x", 0.9}, {"b", "y", 0.5}});
  apply(made);
  const Event opinion = event(OutcomeObserved{.decision = made.id, .grades = {{"a", 0.0}}, .weight = 0.0});
  EXPECT_EQ(apply(opinion).status, ApplyStatus::kApplied);
  EXPECT_EQ(apply(opinion).status, ApplyStatus::kDuplicate);
  EXPECT_FALSE(pool_.decision(made.id)->responses[0].outcome.has_value());
  const ApplyResult graded = apply(OutcomeObserved{.decision = made.id, .grades = {{"a", 1.0}}});
  EXPECT_EQ(graded.status, ApplyStatus::kApplied);
  EXPECT_EQ(graded.learned, (std::vector<std::string>{"a"}));
}

TEST_F(OutcomeTest, EarlyFeedbackThatExpiresUnjoinedIsCounted) {
  const Event kept = feedback(Uuid::make(now_, random_), {{"a", 1.0}});
  const Event reverted = feedback(Uuid::make(now_, random_), {{"a", 1.0}});
  EXPECT_EQ(apply(kept).status, ApplyStatus::kPendingDecision);
  apply(reverted);
  revert(reverted.id);
  advance(pool_.config().pending_ms_max + 1);
  EXPECT_EQ(join("z").lapsed, 1U) << "what was taken back is not missed";
  EXPECT_EQ(join("z").lapsed, 0U);
}

}  // namespace
}  // namespace margin
