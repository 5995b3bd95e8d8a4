// Who decided: an absence is decisive exactly when the answer changes once the model's answers are struck out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "margin/random.h"
#include "margin/vote.h"

namespace margin {
namespace {

std::vector<Absence> absences_of(const Vote& vote, const std::vector<Ballot>& ballots, std::uint32_t answers,
                                 std::size_t models_max = kModelsMax) {
  Tally tally;
  vote.tally(ballots, answers, tally);
  return decisive_absences(vote, ballots, tally, models_max);
}

TEST(Absence, NamesThoseWithoutWhomAnotherAnswerWins) {
  const auto vote = std::move(make_vote("sum")).value();
  const std::vector<Ballot> ballots = {{3, 0, 0.9}, {1, 1, 0.5}, {2, 1, 0.5}, {4, kNoAnswer, 1.0}};
  const std::vector<Absence> absences = absences_of(*vote, ballots, 2);
  ASSERT_EQ(absences.size(), 2U);
  EXPECT_EQ(absences[0].model, 1U);
  EXPECT_EQ(absences[0].winner, 0U);
  EXPECT_EQ(absences[1].model, 2U);
}

TEST(Absence, OfTheOnlyVoterLeavesNothing) {
  const auto vote = std::move(make_vote("sum")).value();
  const std::vector<Ballot> alone = {{5, 0, 0.4}, {5, 0, 0.3}};
  const std::vector<Absence> absences = absences_of(*vote, alone, 1);
  ASSERT_EQ(absences.size(), 1U);
  EXPECT_EQ(absences[0].winner, kNoAnswer);
  EXPECT_TRUE(absences_of(*vote, {}, 0).empty());
}

TEST(Absence, OfManyModelsTheHeaviestAreTried) {
  const auto vote = std::move(make_vote("sum")).value();
  // Each of the first three alone keeps answer 0 ahead; the last one does not matter.
  const std::vector<Ballot> ballots = {{0, 0, 0.5}, {1, 0, 0.6}, {2, 0, 0.6}, {3, 1, 0.9}, {4, 1, 0.4}};
  const auto names = [&](std::size_t models_max) {
    std::vector<ModelId> models;
    for (const Absence& absence : absences_of(*vote, ballots, 2, models_max)) models.push_back(absence.model);
    return models;
  };
  EXPECT_EQ(names(5), (std::vector<ModelId>{0, 1, 2}));
  EXPECT_EQ(names(3), (std::vector<ModelId>{1, 2}));
  EXPECT_EQ(names(2), (std::vector<ModelId>{1}));
  EXPECT_TRUE(names(1).empty());
}

// Thirty thousand ballots that each vanish in the sum, and yet together decide once they are counted by themselves.
TEST(Absence, IsToldOfSumsThatRoundingHides) {
  const auto vote = std::move(make_vote("sum")).value();
  std::vector<Ballot> ballots(4097, {1, 0, 1.0});
  ballots.insert(ballots.end(), 30'000, {0, 0, 0.50001 * std::ldexp(1.0, -40)});
  ballots.insert(ballots.end(), 4097, {2, 1, 1.0});
  ballots.push_back({2, 1, 1e-9});
  Tally tally;
  ASSERT_EQ(vote->count(ballots, 2, tally), 0U);
  std::vector<Ballot> without(ballots.begin(), ballots.begin() + 4097);
  without.insert(without.end(), ballots.begin() + 34'097, ballots.end());
  ASSERT_EQ(vote->count(without, 2, tally), 1U);
  const std::vector<Absence> absences = absences_of(*vote, ballots, 2);
  ASSERT_FALSE(absences.empty());
  EXPECT_EQ(std::count_if(absences.begin(), absences.end(), [](const Absence& absence) { return absence.model == 0; }), 1);
}

TEST(Absence, EqualsStrikingAnswersOutInEveryVote) {
  Random random(11);
  for (const VoteInfo* info : vote_catalog()) {
    auto vote = std::move(make_vote(info->identifier)).value();
    Tally tally;
    for (int round = 0; round < 1000; ++round) {
      // In every other round few confidences, so that scores tie.
      const auto confidence = [&] { return round % 2 == 0 ? random.uniform() : 0.25 * static_cast<double>(random.below(5)); };
      std::vector<Ballot> ballots;
      std::vector<double> outcomes;
      const auto answers = static_cast<std::uint32_t>(1 + random.below(4));
      // In every third round each model votes once, in the order of ids.
      const bool once = round % 3 == 0;
      for (std::size_t i = random.below(7); i > 0; --i) {
        ballots.push_back({static_cast<ModelId>(once ? 6 - i : random.below(6)),
                           random.chance(0.1) ? kNoAnswer : static_cast<std::uint32_t>(random.below(answers)), confidence()});
        outcomes.push_back(ballots.back().answer == 0 ? 1.0 : 0.0);
      }
      vote->tally(ballots, answers, tally);
      const std::uint32_t selected = tally.winner;
      std::map<ModelId, std::uint32_t> expected;
      for (ModelId model = 0; model < 6; ++model) {
        std::vector<Ballot> struck = ballots;
        for (Ballot& ballot : struck) ballot.answer = ballot.model == model ? kNoAnswer : ballot.answer;
        vote->tally(struck, answers, tally);
        if (tally.winner != selected) expected[model] = tally.winner;
      }
      std::map<ModelId, std::uint32_t> found;
      for (const Absence& absence : absences_of(*vote, ballots, answers)) found[absence.model] = absence.winner;
      ASSERT_EQ(found, expected) << info->identifier;
      vote->learn(ballots, answers, outcomes);
    }
  }
}

}  // namespace
}  // namespace margin
