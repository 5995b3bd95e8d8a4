// What every registered vote promises (include/margin/vote.h), tested on each of them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "allocations.h"
#include "margin/random.h"
#include "margin/vote.h"

namespace margin::conformance {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Tally tally_of(const Vote& vote, const std::vector<Ballot>& ballots, std::uint32_t answers) {
  Tally tally;
  vote.tally(ballots, answers, tally);
  return tally;
}

struct Task {
  std::vector<Ballot> ballots;
  std::vector<double> outcomes;
  std::uint32_t answers = 0;
};

// Any legal task: extreme confidences, abstainers, unknown and fractional outcomes, answers nobody names, a model twice.
Task random_task(Random& random, ModelId models = 12) {
  static constexpr double kExtremes[] = {0.0, 5e-324, 1e-300, 0.25, 0.5, 1.0 - 0x1p-53, 1.0};
  Task task;
  task.answers = static_cast<std::uint32_t>(random.below(6));
  for (std::uint64_t size = random.below(14); size > 0; --size) {
    const bool names_answer = task.answers > 0 && random.chance(0.9);
    task.ballots.push_back({.model = static_cast<ModelId>(random.below(models)),
                            .answer = names_answer ? static_cast<std::uint32_t>(random.below(task.answers)) : kNoAnswer,
                            .confidence = random.chance(0.3) ? kExtremes[random.below(std::size(kExtremes))] : random.uniform()});
    const double known = random.chance(0.3) ? random.uniform() : (random.chance(0.5) ? 1.0 : 0.0);
    task.outcomes.push_back(random.chance(0.05) ? kUnknown : known);
  }
  return task;
}

class VoteConformance : public testing::TestWithParam<const VoteInfo*> {
 protected:
  std::unique_ptr<Vote> make() { return make_vote(GetParam()->identifier, GetParam()->version, {}).value(); }
};
INSTANTIATE_TEST_SUITE_P(Votes, VoteConformance, testing::ValuesIn(vote_catalog().begin(), vote_catalog().end()),
                         [](const auto& test) { return test.param->identifier; });
INSTANTIATE_TEST_SUITE_P(ReplacedVotes, VoteConformance, testing::ValuesIn(replaced_votes().begin(), replaced_votes().end()),
                         [](const auto& test) { return test.param->identifier + std::to_string(test.param->version); });

TEST_P(VoteConformance, LargestScoreWinsAndSharesArePartsOfOne) {
  Random random(1);
  auto vote = make();
  Tally tally;
  for (int round = 0; round < 20'000; ++round) {
    const Task task = random_task(random);
    vote->tally(task.ballots, task.answers, tally);
    std::uint32_t voted = 0;
    double total = 0.0;
    ASSERT_EQ(tally.scores.size(), task.answers);
    for (std::uint32_t y = 0; y < task.answers; ++y) {
      voted += tally.votes[y];
      total += tally.shares[y];
      ASSERT_TRUE(std::isfinite(tally.scores[y]));
      ASSERT_GE(tally.shares[y], 0.0);
      if (tally.votes[y] == 0) {
        ASSERT_EQ(tally.shares[y], 0.0);
      } else {
        ASSERT_LE(tally.scores[y], tally.scores[tally.winner]);
      }
    }
    ASSERT_LE(total, 1.0 + 1e-12);
    ASSERT_EQ(tally.winner == kNoAnswer, voted == 0);
    if (voted != 0) {
      ASSERT_GT(tally.votes[tally.winner], 0U);
      ASSERT_EQ(task.ballots[tally.ballot].answer, tally.winner);
      ASSERT_EQ(tally.share, tally.shares[tally.winner]);
      ASSERT_GE(tally.runner_up_gap, 0.0);
      ASSERT_LE(tally.runner_up_gap, tally.share);
    }
    vote->learn(task.ballots, task.answers, task.outcomes, random.chance(0.5) ? 1.0 : 1.0 - random.uniform());
  }
}

TEST_P(VoteConformance, ScoreIsTheSumOfWeights) {
  Random random(2);
  auto vote = make();
  for (int round = 0; round < 2000; ++round) {
    const Task task = random_task(random);
    const Tally tally = tally_of(*vote, task.ballots, task.answers);
    std::vector<double> sums(task.answers, 0.0);
    for (std::size_t i = 0; i < task.ballots.size(); ++i) {
      const double weight = vote->weight(task.ballots, i);
      if (task.ballots[i].answer == kNoAnswer) {
        ASSERT_EQ(weight, 0.0);
      } else {
        sums[task.ballots[i].answer] += weight;
      }
    }
    ASSERT_EQ(sums, tally.scores);
    vote->learn(task.ballots, task.answers, task.outcomes);
  }
}

TEST_P(VoteConformance, FirstAnswerWinsATie) {
  const std::vector<Ballot> ballots = {{0, 2, 0.6}, {1, 0, 0.6}, {2, 1, 0.6}};
  EXPECT_EQ(tally_of(*make(), ballots, 3).winner, GetParam()->identifier == "argmax" ? 2U : 0U);
  const std::vector<Ballot> in_order = {{0, 0, 0.6}, {1, 1, 0.6}};
  const Tally tally = tally_of(*make(), in_order, 2);
  EXPECT_EQ(tally.winner, 0U);
  EXPECT_EQ(tally.runner_up_gap, 0.0);
}

TEST_P(VoteConformance, LeadingResponseIsTheMostConfidentAndFirst) {
  const std::vector<Ballot> ballots = {{0, 0, 0.5}, {1, 0, 0.9}, {2, 0, 0.9}, {3, 1, 0.1}};
  EXPECT_EQ(tally_of(*make(), ballots, 2).ballot, 1U);
}

TEST_P(VoteConformance, NobodyVotingMeansNoWinner) {
  Tally tally = tally_of(*make(), {{0, 0, 0.9}}, 1);  // what was in the tally before must not stay
  make()->tally({}, 0, tally);
  EXPECT_EQ(tally.winner, kNoAnswer);
  EXPECT_EQ(tally.share, 0.0);
  const std::vector<Ballot> silent = {{0, kNoAnswer, 0.9}};
  EXPECT_EQ(tally_of(*make(), silent, 3).winner, kNoAnswer);
}

TEST_P(VoteConformance, ZeroConfidenceStillDecides) {
  const Tally tally = tally_of(*make(), {{0, 1, 0.0}, {1, 2, 0.0}}, 3);
  EXPECT_EQ(tally.winner, 1U);
  EXPECT_GT(tally.share, 0.0);
  EXPECT_LE(tally.share, 0.5);
}

TEST_P(VoteConformance, SnapshotMidwayEqualsNoSnapshot) {
  Random random(3);
  auto steady = make();
  auto restored = make();
  for (int round = 0; round < 3000; ++round) {
    const Task task = random_task(random);
    steady->learn(task.ballots, task.answers, task.outcomes);
    restored->learn(task.ballots, task.answers, task.outcomes);
    if (round % 100 == 0) {
      auto copy = restore_vote(restored->snapshot());
      ASSERT_TRUE(copy.ok()) << copy.error().message;
      restored = std::move(copy).value();
    }
    ASSERT_EQ(tally_of(*steady, task.ballots, task.answers).scores, tally_of(*restored, task.ballots, task.answers).scores);
  }
  EXPECT_EQ(steady->snapshot(), restored->snapshot());
  EXPECT_EQ(steady->digest(), restored->digest());
}

TEST_P(VoteConformance, DigestShowsLearning) {
  auto vote = make();
  const Digest before = vote->digest();
  vote->learn(std::vector<Ballot>{{0, 0, 0.9}, {1, 0, 0.9}}, 1, std::vector<double>{0.0, 0.0});
  EXPECT_EQ(vote->digest() != before, GetParam()->learns);
}

TEST_P(VoteConformance, CorruptSnapshotsAreRefused) {
  Random random(4);
  auto vote = make();
  for (int round = 0; round < 50; ++round) {
    const Task task = random_task(random);
    vote->learn(task.ballots, task.answers, task.outcomes);
  }
  const std::string bytes = vote->snapshot();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = restore_vote(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(cut.ok());
    ASSERT_EQ(cut.error().code, ErrorCode::kCorrupt);
  }
  ASSERT_FALSE(restore_vote(bytes + '\0').ok());
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bad = bytes;
    bad[random.below(bad.size())] = static_cast<char>(random.below(256));
    const auto restored = restore_vote(bad);
    if (!restored) continue;
    ++accepted;  // a state that another stream could reach; it must work
    ASSERT_EQ((*restored)->snapshot(), bad);
    const Task task = random_task(random);
    const Tally tally = tally_of(**restored, task.ballots, task.answers);
    for (const double share : tally.shares) ASSERT_TRUE(share >= 0.0 && share <= 1.0);
  }
  EXPECT_GT(accepted, 0);
}

TEST_P(VoteConformance, SteadyStateDoesNotAllocate) {
  Random random(5);
  auto vote = make();
  std::vector<Task> tasks;
  for (int i = 0; i < 200; ++i) tasks.push_back(random_task(random));
  Tally tally;
  const auto pass = [&] {
    for (const Task& task : tasks) {
      vote->tally(task.ballots, task.answers, tally);
      vote->learn(task.ballots, task.answers, task.outcomes);
    }
  };
  pass();
  const std::size_t before = allocations();
  pass();
  EXPECT_EQ(allocations(), before);
}

TEST_P(VoteConformance, IllegalBallotsStopTheProgram) {
  auto vote = make();
  Tally tally;
  EXPECT_DEATH(vote->tally(std::vector<Ballot>{{0, 3, 0.5}}, 3, tally), "one of the task's answers");
  EXPECT_DEATH(vote->tally(std::vector<Ballot>{{0, 0, kUnknown}}, 1, tally), "confidence");
  EXPECT_DEATH(vote->tally(std::vector<Ballot>{{kModelsMax, 0, 0.5}}, 1, tally), "kModelsMax");
  EXPECT_DEATH(vote->learn(std::vector<Ballot>{{0, 0, 0.5}}, 1, std::vector<double>{1.5}), "outcome");
  EXPECT_DEATH(vote->learn(std::vector<Ballot>{{0, 0, 0.5}}, 1, {}), "outcome");
  EXPECT_DEATH(vote->learn(std::vector<Ballot>{{0, 0, 0.5}}, 1, std::vector<double>{1.0}, 0.0), "weight");
}

}  // namespace
}  // namespace margin::conformance
