// The registry of votes, and what each vote counts and learns. What all of them promise is in tests/conformance.
#include "margin/vote.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "margin/random.h"

namespace margin {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::unique_ptr<Vote> vote_named(std::string_view identifier, const Parameters& parameters = {}) {
  auto made = make_vote(identifier, parameters);
  EXPECT_TRUE(made.ok()) << made.error().message;
  return std::move(made).value();
}

Tally tally_of(const Vote& vote, const std::vector<Ballot>& ballots, std::uint32_t answers) {
  Tally tally;
  vote.tally(ballots, answers, tally);
  return tally;
}

double evidence(double p) { return std::max(0.02, std::log(p / (1 - p)) + std::log(3.0)); }

TEST(VoteRegistry, KnowsTheSixVotes) {
  std::vector<std::string> names;
  for (const VoteInfo* info : vote_catalog()) names.push_back(info->identifier);
  EXPECT_EQ(names, (std::vector<std::string>{"sum", "argmax", "majority", "log_odds", "discounted", "stacked"}));
}

TEST(VoteRegistry, UnknownNameVersionAndParameterAreRefused) {
  const auto misspelt = make_vote("staked");
  ASSERT_FALSE(misspelt.ok());
  EXPECT_EQ(misspelt.error().code, ErrorCode::kNotFound);
  EXPECT_NE(misspelt.error().message.find("stacked"), std::string::npos);
  EXPECT_EQ(make_vote("sum", 2, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(make_vote("sum", 0, {}).error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(make_vote("sum", 1, {}).ok());
  EXPECT_EQ(make_vote("stacked@1", {{"step", 2.0}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(make_vote("discounted", {{"rate", 0.0}}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(make_vote("sum", {{"step", 0.1}}).error().code, ErrorCode::kInvalidArgument);
}

TEST(Vote, TallySaysWhatEachBallotAdded) {
  Random random(5);
  for (const VoteInfo* info : vote_catalog()) {
    const auto vote = vote_named(info->identifier);
    for (int round = 0; round < 100; ++round) {
      std::vector<Ballot> ballots;
      for (std::size_t i = random.below(7); i > 0; --i) {
        ballots.push_back({static_cast<ModelId>(random.below(6)),
                           random.chance(0.1) ? kNoAnswer : static_cast<std::uint32_t>(random.below(3)), random.uniform()});
      }
      const Tally tally = tally_of(*vote, ballots, 3);
      ASSERT_EQ(tally.weights.size(), ballots.size());
      for (std::size_t i = 0; i < ballots.size(); ++i) {
        EXPECT_EQ(tally.weights[i], vote->weight(ballots, i)) << info->identifier;
        EXPECT_TRUE(vote->has_terms() || vote->explain(ballots, i).empty()) << info->identifier;
      }
      vote->learn(ballots, 3, std::vector<double>(ballots.size(), 1.0));
    }
  }
}

TEST(VoteSnapshot, EveryParameterIsNamed) {
  std::string bytes = vote_named("log_odds")->snapshot();
  ASSERT_TRUE(restore_vote(bytes).ok());
  const std::size_t count = 4 + 8 + 8 + 4;                                   // behind format, identifier and version
  const std::size_t first = 8 + std::string("alternatives").size() + 1 + 8;  // the first parameter's name, kind and value
  ASSERT_EQ(bytes[count], 3);
  bytes[count] = 2;
  bytes.erase(count + 8, first);
  const auto restored = restore_vote(bytes);
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().code, ErrorCode::kCorrupt);
}

TEST(Sum, AddsConfidences) {
  const Tally tally = tally_of(*vote_named("sum"), {{0, 0, 0.9}, {1, 1, 0.5}, {2, 1, 0.6}}, 2);
  EXPECT_EQ(tally.winner, 1U);
  EXPECT_DOUBLE_EQ(tally.scores[1], 1.1);
  EXPECT_DOUBLE_EQ(tally.share, 0.55);
  EXPECT_NEAR(tally.runner_up_gap, 0.1, 1e-15);
  EXPECT_EQ(tally.ballot, 2U);
}

TEST(Argmax, CountsOnlyTheLeaderOfEachAnswer) {
  const Tally tally = tally_of(*vote_named("argmax"), {{0, 0, 0.9}, {1, 1, 0.5}, {2, 1, 0.6}}, 2);
  EXPECT_EQ(tally.winner, 0U);
  EXPECT_EQ(tally.scores, (std::vector<double>{0.9, 0.6}));
}

TEST(Argmax, FirstOfEquallyConfidentResponsesDecides) {
  EXPECT_EQ(tally_of(*vote_named("argmax"), {{0, 0, 0.5}, {1, 1, 0.9}, {2, 0, 0.9}}, 2).winner, 1U);
}

TEST(Majority, CountsHeads) {
  const Tally tally = tally_of(*vote_named("majority"), {{0, 0, 1.0}, {1, 1, 0.0}, {2, 1, 0.1}}, 2);
  EXPECT_EQ(tally.winner, 1U);
  EXPECT_EQ(tally.scores, (std::vector<double>{1.0, 2.0}));
}

TEST(LogOdds, AddsEvidenceAboveItsFloor) {
  const Tally tally = tally_of(*vote_named("log_odds"), {{0, 0, 0.9}, {1, 1, 0.6}, {2, 1, 0.1}, {3, 2, 1.0}}, 3);
  EXPECT_NEAR(tally.scores[0], evidence(0.9), 1e-12);
  EXPECT_NEAR(tally.scores[1], evidence(0.6) + 0.02, 1e-12);
  EXPECT_NEAR(tally.scores[2], evidence(0.999), 1e-12);
}

TEST(LogOdds, ParametersReplaceTheConstants) {
  const auto vote = vote_named("log_odds", {{"floor", 0.5}, {"alternatives", 1.0}, {"clip", 0.25}});
  const Tally tally = tally_of(*vote, {{0, 0, 0.9}, {1, 1, 0.5}}, 2);
  EXPECT_NEAR(tally.scores[0], std::log(3.0), 1e-12);
  EXPECT_EQ(tally.scores[1], 0.5);
}

TEST(Discounted, StartsWithAFixedDiscount) {
  const std::vector<Ballot> ballots = {{0, 0, 0.9}, {1, 0, 0.8}, {2, 1, 0.9}};
  const auto vote = vote_named("discounted");
  EXPECT_NEAR(vote->weight(ballots, 0), evidence(0.9) / 1.3, 1e-12);
  EXPECT_NEAR(vote->weight(ballots, 2), evidence(0.9), 1e-12);
}

TEST(Discounted, LearnsWhoSharesWrongAnswers) {
  auto vote = vote_named("discounted");
  const std::vector<Ballot> wrong = {{0, 0, 0.9}, {1, 0, 0.9}, {2, 1, 0.9}};
  double same = 0.3, other = 0.3;
  for (int i = 0; i < 100; ++i) {
    vote->learn(wrong, 2, std::vector<double>{0.0, 0.4, 0.0});
    same = 0.98 * same + 0.02;
    other = 0.98 * other;
  }
  const std::vector<Ballot> agreed = {{0, 0, 0.9}, {1, 0, 0.9}, {2, 0, 0.9}};
  EXPECT_NEAR(vote->weight(agreed, 0), evidence(0.9) / (1.0 + same + other), 1e-12);
  EXPECT_NEAR(vote->weight(agreed, 2), evidence(0.9) / (1.0 + 2 * other), 1e-12);
}

TEST(Discounted, RightOrUnknownTeachesNothing) {
  auto vote = vote_named("discounted");
  const std::vector<Ballot> agreed = {{0, 0, 0.9}, {1, 0, 0.9}};
  const double before = vote->weight(agreed, 0);
  vote->learn(agreed, 1, std::vector<double>{0.5, 0.0});
  vote->learn(agreed, 1, std::vector<double>{0.0, kUnknown});
  EXPECT_EQ(vote->weight(agreed, 0), before);
}

TEST(Discounted, ModelsBeyondTheCapKeepTheStart) {
  auto vote = vote_named("discounted", {{"models_max", 2.0}});
  const std::vector<Ballot> agreed = {{0, 0, 0.9}, {1, 0, 0.9}, {2, 0, 0.9}};
  for (int i = 0; i < 500; ++i) vote->learn(agreed, 1, std::vector<double>{0.0, 0.0, 0.0});
  EXPECT_NEAR(vote->weight(agreed, 2), evidence(0.9) / 1.6, 1e-12);
  EXPECT_LT(vote->weight(agreed, 0), evidence(0.9) / 2.2);
  vote->learn(std::vector<Ballot>{{kModelsMax - 1, 0, 0.9}, {0, 0, 0.9}}, 1, std::vector<double>{0.0, 0.0});
  EXPECT_LT(vote->snapshot().size(), 1000U);
}

TEST(Discounted, HalfWeightTwiceIsOnce) {
  auto once = vote_named("discounted");
  auto twice = vote_named("discounted");
  const std::vector<Ballot> agreed = {{0, 0, 0.9}, {1, 0, 0.9}};
  const std::vector<double> wrong = {0.0, 0.0};
  once->learn(agreed, 1, wrong);
  twice->learn(agreed, 1, wrong, 0.5);
  EXPECT_GT(twice->weight(agreed, 0), once->weight(agreed, 0));
  twice->learn(agreed, 1, wrong, 0.5);
  EXPECT_NEAR(twice->weight(agreed, 0), once->weight(agreed, 0), 1e-12);
}

TEST(Stacked1, NewcomersSplitTheirFirstTask) {
  const auto vote = vote_named("stacked@1");
  std::vector<Ballot> ballots;
  for (ModelId model = 0; model < 16; ++model) ballots.push_back({model, 0, 0.9});
  ballots.push_back({99, kNoAnswer, 0.9});
  EXPECT_NEAR(vote->weight(ballots, 3), evidence(0.9) / 8.0, 1e-12);  // 16^-0.75
}

TEST(Stacked1, StatedProbabilityLeavesRoomForNone) {
  const std::vector<Ballot> ballots = {{0, 0, 0.9}, {1, 1, 0.5}};
  const Tally tally = tally_of(*vote_named("stacked@1"), ballots, 2);
  const double theta = std::pow(2.0, -0.75);
  const double a = std::exp(theta * evidence(0.9)), b = std::exp(theta * evidence(0.5));
  EXPECT_NEAR(tally.share, a / (a + b + 1.0), 1e-12);
  EXPECT_NEAR(tally.runner_up_gap, (a - b) / (a + b + 1.0), 1e-12);
}

TEST(Stacked1, UnknownOutcomesIntroduceWithoutTeaching) {
  auto vote = vote_named("stacked@1");
  const std::vector<Ballot> pair = {{0, 0, 0.9}, {1, 1, 0.9}};
  vote->learn(pair, 2, std::vector<double>{1.0, kUnknown});
  const std::vector<Ballot> alone = {{0, 0, 0.9}};
  EXPECT_NEAR(vote->weight(alone, 0), std::pow(2.0, -0.75) * evidence(0.9), 1e-12);
  EXPECT_NEAR(tally_of(*vote, alone, 1).share, 1.0 / (1.0 + std::exp(-std::pow(2.0, -0.75) * evidence(0.9))), 1e-12);
}

TEST(Stacked1, AnAnswersOutcomeIsItsBest) {
  auto known = vote_named("stacked@1");
  auto partly = vote_named("stacked@1");
  const std::vector<Ballot> agreed = {{0, 0, 0.9}, {1, 0, 0.9}, {2, 1, 0.7}};
  known->learn(agreed, 2, std::vector<double>{1.0, 1.0, 0.0});
  partly->learn(agreed, 2, std::vector<double>{kUnknown, 0.7, 0.4});
  EXPECT_EQ(known->snapshot(), partly->snapshot());
}

TEST(Stacked1, LearnsWhomToBelieve) {
  auto vote = vote_named("stacked@1");
  for (int i = 0; i < 300; ++i) vote->learn(std::vector<Ballot>{{0, 0, 0.9}, {1, 1, 0.6}}, 2, std::vector<double>{0.0, 1.0});
  const Tally tally = tally_of(*vote, {{0, 0, 0.9}, {1, 1, 0.6}}, 2);
  EXPECT_EQ(tally.winner, 1U);
  EXPECT_GT(tally.share, 0.9);
}

TEST(Stacked1, StrengthStaysAboveItsBound) {
  auto vote = vote_named("stacked@1");
  const std::vector<Ballot> alone = {{0, 0, 0.9}};
  for (int i = 0; i < 5000; ++i) vote->learn(alone, 1, std::vector<double>{0.0});
  EXPECT_GE(vote->weight(alone, 0), -0.5 * evidence(0.9) - 1e-12);
  EXPECT_LT(tally_of(*vote, alone, 1).share, 0.01);
}

TEST(Stacked1, OneSidedStreamsStayFinite) {
  // A long run without surprise drives gradients to zero and scores apart; the upset afterwards must still be learned.
  auto vote = vote_named("stacked@1", {{"step", 1.0}, {"decay", 0.5}, {"alternatives", 1e6}, {"clip", 1e-12}});
  std::vector<Ballot> ballots;
  for (ModelId model = 0; model < 60; ++model) ballots.push_back({model, 0, 1.0});
  ballots.push_back({60, 1, 1.0});
  std::vector<double> expected(61, 1.0), upset(61, 0.0);
  expected.back() = 0.0;
  upset.back() = 1.0;
  for (int i = 0; i < 20'000; ++i) vote->learn(ballots, 2, expected);
  const double before = vote->weight(ballots, 60);
  vote->learn(ballots, 2, upset);
  const Tally tally = tally_of(*vote, ballots, 2);
  EXPECT_TRUE(std::isfinite(tally.scores[0]) && std::isfinite(tally.scores[1]));
  EXPECT_GT(vote->weight(ballots, 60), before);
}

TEST(Stacked1, UpsetBeyondTheRangeOfDoublesIsLearned) {
  // Each model enters alone, with full strength; together they leave the right answer a probability that underflows to 0.
  auto vote = vote_named("stacked@1", {{"alternatives", 1e6}, {"clip", 1e-12}});
  std::vector<Ballot> ballots;
  for (ModelId model = 0; model <= 60; ++model) {
    ballots.push_back({model, model == 60 ? 1U : 0U, 1.0});
    vote->learn(std::vector<Ballot>{{model, 0, 1.0}}, 1, std::vector<double>{kUnknown});
  }
  ASSERT_EQ(tally_of(*vote, ballots, 2).shares[1], 0.0);
  const double before = vote->weight(ballots, 60);
  std::vector<double> upset(61, 0.0);
  upset.back() = 1.0;
  vote->learn(ballots, 2, upset);
  EXPECT_GT(vote->weight(ballots, 60), before);
}

TEST(Stacked1, LessWeightMovesLess) {
  const std::vector<Ballot> pair = {{0, 0, 0.9}, {1, 1, 0.9}};
  const auto moved = [&](double weight) {
    auto vote = vote_named("stacked@1");
    vote->learn(pair, 2, std::vector<double>{1.0, 0.0}, weight);
    return vote->weight(pair, 0);
  };
  const double start = vote_named("stacked@1")->weight(pair, 0);
  EXPECT_GT(moved(1.0), moved(0.5));
  EXPECT_GT(moved(0.5), moved(0.01));
  EXPECT_GT(moved(0.01), start);
}

TEST(VoteRegistry, AReplacedVersionIsReachedByNameAndRestored) {
  EXPECT_EQ(vote_named("stacked")->info().version, 3);
  EXPECT_EQ(vote_named("stacked@2")->info().version, 2);
  const auto old = vote_named("stacked@1");
  EXPECT_EQ(old->info().version, 1);
  const auto restored = restore_vote(old->snapshot());
  ASSERT_TRUE(restored.ok());
  EXPECT_EQ((*restored)->info().version, 1);
  for (const char* name : {"stacked@4", "stacked@", "stacked@1x", "stacked@-1", "stacked@0"}) {
    EXPECT_EQ(make_vote(name).error().code, ErrorCode::kNotFound) << name;
  }
}

TEST(Stacked, BeforeAnyOutcomeItIsLogOdds) {
  const auto vote = vote_named("stacked");
  const auto log_odds = vote_named("log_odds");
  const std::vector<Ballot> ballots = {{0, 0, 0.9}, {1, 1, 0.5}, {7, 1, 0.1}, {9, kNoAnswer, 0.9}};
  for (std::size_t i = 0; i < ballots.size(); ++i) EXPECT_EQ(vote->weight(ballots, i), log_odds->weight(ballots, i));
}

TEST(Stacked, StatedProbabilityLeavesRoomForNone) {
  const std::vector<Ballot> ballots = {{0, 0, 0.9}, {1, 1, 0.5}};
  const Tally tally = tally_of(*vote_named("stacked"), ballots, 2);
  const double sharpness = std::pow(2.0, -0.75);
  const double a = std::exp(sharpness * evidence(0.9)), b = std::exp(sharpness * evidence(0.5));
  EXPECT_NEAR(tally.share, a / (a + b + 1.0), 1e-12);
  EXPECT_NEAR(tally.runner_up_gap, (a - b) / (a + b + 1.0), 1e-12);
}

TEST(Stacked, WhereOutcomesStayUnknownItBecomesLogOddsAgain) {
  const std::vector<Ballot> pair = {{0, 0, 0.9}, {1, 1, 0.8}};
  const auto log_odds = vote_named("log_odds");
  const auto vote = vote_named("stacked");
  const auto old = vote_named("stacked@2");
  for (int task = 0; task < 200; ++task) {
    for (Vote* each : {vote.get(), old.get()}) each->learn(pair, 2, std::vector<double>{0.0, 1.0});
  }
  const auto learned = [&](std::size_t i) { return vote->weight(pair, i) - log_odds->weight(pair, i); };
  const double before[] = {learned(0), learned(1)};
  EXPECT_LT(before[0], -0.5);
  EXPECT_GT(before[1], 0.1);
  const std::string taught = old->snapshot();
  const auto nobody_says = [&](Vote& each) { each.learn(pair, 2, std::vector<double>{1.0, kUnknown}); };
  for (int task = 0; task < 150; ++task) nobody_says(*vote);
  for (std::size_t i : {0U, 1U}) EXPECT_NEAR(learned(i), before[i] * std::pow(0.99, 150), 1e-9);
  for (int task = 0; task < 4000; ++task) nobody_says(*vote);
  for (std::size_t i : {0U, 1U}) EXPECT_EQ(learned(i), 0.0);
  nobody_says(*old);
  EXPECT_EQ(old->snapshot(), taught);
}

TEST(Stacked, WhatIsForgottenOfOneModelIsNotForgottenOfAnother) {
  const auto vote = vote_named("stacked");
  const std::vector<Ballot> all = {{0, 0, 0.9}, {1, 1, 0.8}, {2, 2, 0.7}};
  for (int task = 0; task < 50; ++task) vote->learn(all, 3, std::vector<double>{0.0, 1.0, 0.0});
  const double first = vote->weight(all, 0);
  const double third = vote->weight(all, 2);
  vote->learn(std::vector<Ballot>{{0, 0, 0.9}, {1, 1, 0.8}, {2, kNoAnswer, 0.7}}, 2, std::vector<double>{1.0, kUnknown, kUnknown});
  EXPECT_GT(vote->weight(all, 0), first);
  EXPECT_EQ(vote->weight(all, 2), third);
}

TEST(Stacked, ATaskWithAnUnknownAnswerTeachesNothing) {
  auto vote = vote_named("stacked");
  const std::string before = vote->snapshot();
  vote->learn(std::vector<Ballot>{{0, 0, 0.9}, {1, 1, 0.9}}, 2, std::vector<double>{1.0, kUnknown});
  vote->learn(std::vector<Ballot>{{0, kNoAnswer, 0.9}}, 0, std::vector<double>{0.0});
  EXPECT_EQ(vote->snapshot(), before);
}

TEST(Stacked, AnAnswersOutcomeIsItsBest) {
  auto known = vote_named("stacked");
  auto partly = vote_named("stacked");
  const std::vector<Ballot> agreed = {{0, 0, 0.9}, {1, 0, 0.9}, {2, 1, 0.7}};
  known->learn(agreed, 2, std::vector<double>{1.0, 1.0, 0.0});
  partly->learn(agreed, 2, std::vector<double>{kUnknown, 0.7, 0.4});
  EXPECT_EQ(known->snapshot(), partly->snapshot());
}

TEST(Stacked, LearnsWhomToBelieveAndForgetsIt) {
  auto vote = vote_named("stacked");
  const std::vector<Ballot> pair = {{0, 0, 0.9}, {1, 1, 0.6}};
  for (int i = 0; i < 300; ++i) vote->learn(pair, 2, std::vector<double>{0.0, 1.0});
  EXPECT_EQ(tally_of(*vote, pair, 2).winner, 1U);
  EXPECT_GT(tally_of(*vote, pair, 2).share, 0.8);
  for (int i = 0; i < 200; ++i) vote->learn(pair, 2, std::vector<double>{1.0, 0.0});
  EXPECT_EQ(tally_of(*vote, pair, 2).winner, 0U);
}

TEST(Stacked, CopiesOfOneModelLearnToCountAsOne) {
  // Models 0 to 3 answer alike, right half of the time; models 4 and 5 are right by themselves, 3 times of 4. Four against two at first.
  auto vote = vote_named("stacked");
  for (int i = 0; i < 600; ++i) {
    const bool copies = i % 2 == 0, fourth = i % 4 != 1, fifth = i % 4 != 3;
    std::vector<Ballot> ballots;
    std::vector<double> outcomes;
    const auto add = [&](ModelId model, bool right, std::uint32_t wrong) {
      ballots.push_back({model, right ? 0 : wrong, 0.7});
      outcomes.push_back(right ? 1.0 : 0.0);
    };
    for (ModelId model = 0; model < 4; ++model) add(model, copies, 1);
    add(4, fourth, 2);
    add(5, fifth, 3);
    vote->learn(ballots, 4, outcomes);
  }
  const std::vector<Ballot> contest = {{0, 0, 0.7}, {1, 0, 0.7}, {2, 0, 0.7}, {3, 0, 0.7}, {4, 1, 0.7}, {5, 1, 0.7}};
  EXPECT_EQ(tally_of(*vote_named("log_odds"), contest, 2).winner, 0U);
  EXPECT_EQ(tally_of(*vote, contest, 2).winner, 1U);
}

TEST(Stacked, OneSidedStreamsStayFiniteAndAnUpsetIsLearned) {
  auto vote =
      vote_named("stacked", {{"scale_spread", 10.0}, {"trust_spread", 10.0}, {"memory", 1.0}, {"alternatives", 1e6}, {"clip", 1e-12}});
  std::vector<Ballot> ballots;
  for (ModelId model = 0; model < 60; ++model) ballots.push_back({model, 0, 1.0});
  ballots.push_back({60, 1, 1.0});
  std::vector<double> expected(61, 1.0), upset(61, 0.0);
  expected.back() = 0.0;
  upset.back() = 1.0;
  for (int i = 0; i < 20'000; ++i) vote->learn(ballots, 2, expected);
  const double before = vote->weight(ballots, 60);
  vote->learn(ballots, 2, upset);
  const Tally tally = tally_of(*vote, ballots, 2);
  EXPECT_TRUE(std::isfinite(tally.scores[0]) && std::isfinite(tally.scores[1]));
  EXPECT_GT(vote->weight(ballots, 60), before);
}

TEST(Stacked, LessWeightMovesLess) {
  const std::vector<Ballot> pair = {{0, 0, 0.9}, {1, 1, 0.9}};
  const auto moved = [&](double weight) {
    auto vote = vote_named("stacked");
    vote->learn(pair, 2, std::vector<double>{1.0, 0.0}, weight);
    return vote->weight(pair, 0);
  };
  EXPECT_GT(moved(1.0), moved(0.5));
  EXPECT_GT(moved(0.5), moved(0.01));
  EXPECT_GT(moved(0.01), evidence(0.9));
}

}  // namespace
}  // namespace margin
