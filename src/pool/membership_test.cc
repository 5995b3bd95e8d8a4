// Models join, leave and return; segments, channels and predecessors; pins; configuration; what decide() foresees.
#include <gtest/gtest.h>

#include "pool/pool_fixture.h"

namespace margin {
namespace {

using MembershipTest = PoolTest;
using Names = std::vector<std::string>;

TEST_F(MembershipTest, EachResponseIsCalibratedInItsOwnChannelWhoeverStandsBesideIt) {
  teach("a", 1.0, 60);
  teach("b", 1.0, 60);
  teach("a", 0.0, 60, "", "logprob");
  const Event made = plan({{"a", "x"}, {"a", "x", 0.9, "logprob"}, {"b", "x"}});
  const auto& responses = std::get<DecisionMade>(made.body).responses;
  EXPECT_EQ(responses[0].calibrated, trust("a"));
  EXPECT_EQ(responses[1].calibrated, trust("a", "", "logprob"));
  EXPECT_EQ(responses[2].calibrated, trust("b"));
  EXPECT_GT(responses[0].calibrated, responses[1].calibrated + 0.3);
}

TEST_F(MembershipTest, ModelJoinsWithItsFirstUsableResponse) {
  decide({{"b", "x"}, {"a", "x", std::nullopt}});
  EXPECT_EQ(pool_.present_models(), Names{"b"});
  decide({{"a", "x"}});
  EXPECT_EQ(pool_.present_models(), (Names{"b", "a"}));
}

TEST_F(MembershipTest, NewcomerEntersFromThePresentModelsFactors) {
  teach("a", 0.0, 20);
  decide({{"new", "x"}});
  EXPECT_NEAR(trust("new"), trust("a"), 1e-15);
}

TEST_F(MembershipTest, DecideForeseesTheNewcomerItWillBe) {
  teach("a", 0.0, 20);
  const Event made = plan({{"new", "x"}}, "law");
  apply(made);
  EXPECT_EQ(std::get<DecisionMade>(made.body).responses[0].calibrated, trust("new", "law"));
}

TEST_F(MembershipTest, DecideChangesNothing) {
  teach("a", 0.0, 3);
  const Digest before = pool_.digest();
  plan({{"new", "x"}, {"a", "y"}}, "law");
  EXPECT_EQ(pool_.digest(), before);
}

TEST_F(MembershipTest, DepartedModelsResponseIsRecordedAndHasNoPart) {
  teach("a", 1.0, 1);
  leave("a");
  const Event made = plan({{"a", "x", 1.0}, {"b", "y", 0.1}});
  const auto& decision = std::get<DecisionMade>(made.body);
  EXPECT_EQ(decision.selected_model, "b");
  EXPECT_EQ(decision.responses[0].calibrated, 0.0);
  apply(made);
  EXPECT_EQ(pool_.present_models(), Names{"b"}) << "answering is not coming back";
  join("a");
  EXPECT_EQ(outcome(made.id, {{"a", 1.0}}).unlearned, Names{"a"});
}

TEST_F(MembershipTest, ReturningModelGoesOnAsItLeft) {
  teach("a", 0.0, 20);
  const double before = trust("a");
  leave("a");
  teach("b", 1.0, 20);
  EXPECT_EQ(join("a").status, ApplyStatus::kApplied);
  EXPECT_EQ(trust("a"), before);
}

TEST_F(MembershipTest, DepartedModelIsLeftOutOfANewcomersEntry) {
  teach("good", 1.0, 20);
  teach("bad", 0.0, 20);
  leave("bad");
  decide({{"new", "x"}});
  EXPECT_NEAR(trust("new"), trust("good"), 1e-15);
}

TEST_F(MembershipTest, JoiningLeavingFreezingAndPinningTwiceIsADuplicate) {
  join("a");
  EXPECT_EQ(join("a").status, ApplyStatus::kDuplicate);
  EXPECT_EQ(apply(FactorPinned{"a", 0.5}).status, ApplyStatus::kApplied);
  EXPECT_EQ(apply(FactorPinned{"a", 0.5}).status, ApplyStatus::kDuplicate);
  EXPECT_EQ(apply(FactorUnpinned{"a"}).status, ApplyStatus::kApplied);
  EXPECT_EQ(apply(FactorUnpinned{"a"}).status, ApplyStatus::kDuplicate);
  EXPECT_EQ(leave("a").status, ApplyStatus::kApplied);
  EXPECT_EQ(leave("a").status, ApplyStatus::kDuplicate);
  EXPECT_EQ(apply(LearningResumed{}).status, ApplyStatus::kDuplicate);
  apply(LearningFrozen{});
  EXPECT_EQ(apply(LearningFrozen{}).status, ApplyStatus::kDuplicate);
}

TEST_F(MembershipTest, UnknownModelsAreRefused) {
  decide({{"mentioned", "x", std::nullopt}});
  for (const char* name : {"nobody", "mentioned"}) {
    EXPECT_EQ(leave(name).error->code, ErrorCode::kNotFound);
    EXPECT_EQ(apply(FactorPinned{name, 0.5}).error->code, ErrorCode::kNotFound);
    EXPECT_EQ(apply(FactorUnpinned{name}).error->code, ErrorCode::kNotFound);
    EXPECT_EQ(join("new", name).error->code, ErrorCode::kNotFound);
  }
  EXPECT_EQ(join("a", "a").status, ApplyStatus::kRefused);
}

TEST_F(MembershipTest, NewVersionEntersFromItsPredecessorNotFromThePool) {
  teach("v1", 0.0, 20);
  teach("other", 1.0, 20);
  leave("v1");
  join("v2", "v1");
  decide({{"v2", "x"}});
  EXPECT_NEAR(trust("v2"), trust("v1"), 1e-15);
  EXPECT_LT(trust("v2"), trust("other"));
}

TEST_F(MembershipTest, PredecessorCannotBeNamedAfterTheModelEntered) {
  teach("v1", 0.0, 1);
  decide({{"v2", "x"}});
  EXPECT_EQ(join("v2", "v1").error->code, ErrorCode::kConflict);
}

TEST_F(MembershipTest, PredecessorInTheSegmentWinsOverTheModelWithoutSegment) {
  teach("v1", 1.0, 5);
  join("v2", "v1");
  teach("v2", 0.0, 20);
  teach("v1", 1.0, 30, "law");
  decide({{"v2", "x"}}, "law");
  EXPECT_NEAR(trust("v2", "law"), trust("v1", "law"), 1e-15);
  decide({{"v2", "x"}}, "physics");
  EXPECT_NEAR(trust("v2", "physics"), trust("v2"), 1e-15);
}

TEST_F(MembershipTest, SegmentEntersFromTheStateWithoutSegmentAndTeachesOnlyItself) {
  teach("a", 0.0, 20);
  const double base = trust("a");
  decide({{"a", "x"}}, "law");
  EXPECT_NEAR(trust("a", "law"), base, 1e-15);
  teach("a", 1.0, 20, "law");
  EXPECT_EQ(trust("a"), base);
  EXPECT_GT(trust("a", "law"), base);
}

TEST_F(MembershipTest, ChannelsAreKeptApart) {
  teach("a", 0.0, 20);
  teach("a", 1.0, 20, "", "consistency");
  EXPECT_LT(trust("a"), 0.9);
  EXPECT_GT(trust("a", "", "consistency"), 0.9);
}

TEST_F(MembershipTest, PinnedFactorReplacesTheLearnedOneWhichLearnsOn) {
  teach("a", 0.0, 1);
  apply(FactorPinned{"a", 0.5});
  EXPECT_EQ(trust("a"), 0.45);
  EXPECT_EQ(std::get<DecisionMade>(plan({{"a", "x"}}, "law").body).responses[0].calibrated, 0.45);
  teach("a", 0.0, 19);
  apply(FactorUnpinned{"a"});
  const double unpinned = trust("a");
  Pool never_pinned;
  for (const Event& happened : log_) {
    if (!std::holds_alternative<FactorPinned>(happened.body)) never_pinned.apply(happened);
  }
  EXPECT_EQ(unpinned, *never_pinned.calibrate("a", "verbalized", "", 0.9));
}

TEST_F(MembershipTest, PinnedResultIsClipped) {
  join("a");
  apply(FactorPinned{"a", 20.0});
  EXPECT_EQ(std::get<DecisionMade>(plan({{"a", "x"}}).body).responses[0].calibrated, 1.0);
  EXPECT_EQ(apply(FactorPinned{"a", 20.1}).status, ApplyStatus::kRefused);
  EXPECT_EQ(apply(FactorPinned{"a", -0.1}).status, ApplyStatus::kRefused);
}

TEST_F(MembershipTest, ResponseWithoutAnswerIsCalibratedAndDoesNotVote) {
  const Event made = plan({{"a", "", 0.9}, {"b", "y", 0.1}});
  const auto& decision = std::get<DecisionMade>(made.body);
  EXPECT_EQ(decision.responses[0].calibrated, 0.9);
  EXPECT_EQ(decision.selected_model, "b");
  EXPECT_EQ(decision.share, 0.1);  // of the lone ballot
}

TEST_F(MembershipTest, AnswerNobodyVotesForIsNotElected) {
  const Event made = plan({{"a", "x", std::nullopt}, {"b", "y", 0.0}});
  const auto& decision = std::get<DecisionMade>(made.body);
  EXPECT_EQ(decision.selected_model, "b");
  EXPECT_EQ(decision.answers.size(), 2U);
}

TEST_F(MembershipTest, SameConfigurationKeepsWhatWasLearned) {
  teach("a", 0.0, 20);
  const double before = trust("a");
  EXPECT_EQ(configure({}).status, ApplyStatus::kDuplicate);
  EXPECT_EQ(configure({.calibrator_parameters = {{"alpha", 0.04}}}).status, ApplyStatus::kDuplicate) << "the default, spelled out";
  EXPECT_EQ(configure({.decisions_max = 7}).status, ApplyStatus::kApplied);
  EXPECT_EQ(trust("a"), before);
}

TEST_F(MembershipTest, OtherParametersStartCalibrationAnewAndKeepTheModels) {
  teach("a", 0.0, 20);
  const Uuid open = decide({{"a", "x"}});
  EXPECT_EQ(configure({.calibrator_parameters = {{"alpha", 0.5}}}).status, ApplyStatus::kApplied);
  EXPECT_EQ(pool_.present_models(), Names{"a"});
  EXPECT_TRUE(pool_.factors().empty());
  EXPECT_EQ(outcome(open, {{"a", 1.0}}).learned, Names{"a"});
  EXPECT_NEAR(trust("a"), 0.9 * (0.5 * 5 / 6 + 0.5) / (0.5 * 5 / 6 + 0.45), 1e-15);
}

TEST_F(MembershipTest, BadConfigurationIsRefusedByField) {
  const auto message = [&](PoolConfigured bad) {
    const ApplyResult result = configure(std::move(bad));
    EXPECT_EQ(result.status, ApplyStatus::kRefused);
    return result.error ? result.error->message : std::string();
  };
  EXPECT_TRUE(message({.calibrator = "magin"}).find("margin") != std::string::npos);
  EXPECT_TRUE(message({.calibrator_version = 99}).find("99") != std::string::npos);
  EXPECT_TRUE(message({.calibrator_parameters = {{"alpha", 2.0}}}).find("alpha") != std::string::npos);
  EXPECT_TRUE(message({.vote = "sun"}).find("sum") != std::string::npos);
  EXPECT_TRUE(message({.vote_version = 99}).find("99") != std::string::npos);
  EXPECT_TRUE(message({.pending_ms_max = 0}).starts_with("pending_ms_max: got 0"));
  EXPECT_TRUE(message({.models_max = 0}).starts_with("models_max: got 0"));
  EXPECT_TRUE(message({.remembered_events_max = 0}).starts_with("remembered_events_max: got 0"));
  EXPECT_EQ(pool_.config().calibrator, "margin");
}

TEST_F(MembershipTest, FactorsHaveARowPerModelCellAndBand) {
  teach("a", 0.0, 1);
  teach("b", 0.0, 1, "law");
  leave("a");
  apply(FactorPinned{"b", 2.0});
  const auto rows = pool_.factors();
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[2].model, "a");
  EXPECT_FALSE(rows[2].present);
  EXPECT_EQ(rows[2].explanation.band, 2);
  EXPECT_NEAR(rows[2].explanation.confidence, 5.0 / 6, 1e-15);
  EXPECT_EQ(rows[2].explanation.observations, 1.0);
  EXPECT_EQ(rows[5].segment, "law");
  EXPECT_EQ(rows[5].pinned, 2.0);
}

TEST_F(MembershipTest, LearningVoteIsTaughtWhenTheLastBallotIsGraded) {
  configure({.vote = "discounted"});
  const auto discount = [&] { return std::get<DecisionMade>(plan({{"a", "x", 0.9}, {"b", "x", 0.9}, {"c", "y", 0.9}}).body).share; };
  decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  configure({.calibrator = "raw", .vote = "discounted"});
  const double before = discount();
  const Uuid decision = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  outcome(decision, {{"a", 0.0}, {"b", 0.0}});
  EXPECT_EQ(discount(), before);
  outcome(decision, {{"c", 1.0}});
  EXPECT_LT(discount(), before) << "two who were wrong alike count for less together";
}

TEST_F(MembershipTest, VoteIsNotHeldBackByAResponseWithoutPart) {
  configure({.calibrator = "raw", .vote = "discounted"});
  const auto discount = [&] { return std::get<DecisionMade>(plan({{"a", "x", 0.9}, {"b", "x", 0.9}, {"c", "y", 0.9}}).body).share; };
  const Uuid decision = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}, {"mute", "y", std::nullopt}});
  const double before = discount();
  outcome(decision, {{"a", 0.0}, {"b", 0.0}, {"c", 1.0}});
  EXPECT_LT(discount(), before);
}

TEST_F(MembershipTest, VoteLearnsNothingFromFrozenOutcomes) {
  configure({.calibrator = "raw", .vote = "discounted"});
  const auto discount = [&] { return std::get<DecisionMade>(plan({{"a", "x", 0.9}, {"b", "x", 0.9}, {"c", "y", 0.9}}).body).share; };
  const Uuid decision = decide({{"a", "x"}, {"b", "x"}, {"c", "y"}});
  const double before = discount();
  apply(LearningFrozen{});
  outcome(decision, {{"a", 0.0}, {"b", 0.0}});
  apply(LearningResumed{});
  outcome(decision, {{"c", 1.0}});
  EXPECT_EQ(discount(), before);
}

}  // namespace
}  // namespace margin
