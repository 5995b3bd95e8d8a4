#include "experiment/votes.h"

#include <gtest/gtest.h>

#include "dataset/simulate.h"
#include "experiment/shift_pools.h"
#include "experiment/stream.h"

namespace margin::experiment {
namespace {

Condition condition(const dataset::Simulation& simulation, const char* from, const char* to) {
  const auto source = make_streams(simulation.log, {.phases = {from}});
  const auto target = make_streams(simulation.log, {.phases = {to}});
  return make_condition(std::string(from) + "->" + to, source->front(), target->front());
}

std::vector<VoteEntrant> every_vote() {
  std::vector<VoteEntrant> votes;
  for (const VoteInfo* info : vote_catalog()) votes.push_back({info->identifier, std::move(make_vote(info->identifier)).value()});
  return votes;
}

TEST(Votes, SelectAsAShiftThatGoesOnDoes) {
  const auto simulation = dataset::simulate("paper", {.tasks = 80});
  const Condition shift = condition(*simulation, "STEM", "HUM");
  const std::vector<VoteEntrant> votes = every_vote();
  std::vector<Entrant> entrants;
  entrants.push_back({"margin", std::move(make_calibrator("margin")).value()});
  const auto ours = run_votes(shift, *entrants[0].method, votes, {.orderings = 3, .seed = 5, .resamples = 40, .threads = {1}});
  ASSERT_TRUE(ours.has_value());
  for (std::size_t v = 0; v < votes.size(); ++v) {
    const auto theirs =
        run_shift(shift, entrants, *votes[v].vote, {.boundary = Boundary::kCarry, .orderings = 3, .seed = 5, .resamples = 40});
    EXPECT_NEAR(*ours->votes[v].pass1.value, *theirs->entrants[0].scores.mean[kPass1], 1e-12) << votes[v].label;
    for (std::size_t b = 0; b < 40; ++b) EXPECT_NEAR(*ours->votes[v].pass1.resampled[b], *theirs->entrants[0].pass1[b], 1e-12);
  }
}

// Where outcomes come late or in part each vote has a pass of its own, which is that of the shift with that vote.
TEST(Votes, LearnWhatArrivesWhenItArrives) {
  const auto simulation = dataset::simulate("paper", {.tasks = 80});
  const Condition shift = condition(*simulation, "STEM", "HUM");
  const std::vector<VoteEntrant> votes = every_vote();
  std::vector<Entrant> entrants;
  entrants.push_back({"margin", std::move(make_calibrator("margin")).value()});
  const PassOptions late{.lag = 100};
  const PassOptions partial{.feedback = Feedback::kSelected, .remedy = RemedyKind::kImplied};
  for (const PassOptions& pass : {late, partial}) {
    const auto ours = run_votes(shift, *entrants[0].method, votes, {.orderings = 2, .seed = 5, .resamples = 10, .pass = pass});
    ASSERT_TRUE(ours.has_value());
    for (std::size_t v = 0; v < votes.size(); ++v) {
      const auto theirs = run_shift(shift, entrants, *votes[v].vote,
                                    {.boundary = Boundary::kCarry, .orderings = 2, .seed = 5, .pass = pass, .resamples = 10});
      EXPECT_NEAR(*ours->votes[v].pass1.value, *theirs->entrants[0].scores.mean[kPass1], 1e-12) << votes[v].label;
      EXPECT_FALSE(ours->votes[v].kept_pace.has_value());
    }
  }
}

TEST(Votes, DecisionsAreAsSureAsOutcomesThatHaveArrivedAllow) {
  const auto simulation = dataset::simulate("paper", {.tasks = 60});
  const Condition shift = condition(*simulation, "STEM", "HUM");
  const auto method = std::move(make_calibrator("raw")).value();
  std::vector<VoteEntrant> votes;
  votes.push_back({"sum", std::move(make_vote("sum")).value()});
  const auto at_once = run_votes(shift, *method, votes, {.orderings = 1, .resamples = 0});
  const auto never = run_votes(shift, *method, votes, {.orderings = 1, .resamples = 0, .pass = {.lag = 100'000}});
  EXPECT_EQ(*at_once->votes[0].pass1.value, *never->votes[0].pass1.value) << "nothing that selects has learned";
  EXPECT_NE(at_once->votes[0].decision.ece, never->votes[0].decision.ece);
}

TEST(Votes, DoNotDependOnTheNumberOfThreads) {
  const auto simulation = dataset::simulate("paper", {.tasks = 40});
  const Condition shift = condition(*simulation, "GSM", "COMP");
  const auto method = std::move(make_calibrator("margin")).value();
  const auto votes = every_vote();
  const auto one = run_votes(shift, *method, votes, {.orderings = 4, .resamples = 20, .threads = {1}});
  const auto two = run_votes(shift, *method, votes, {.orderings = 4, .resamples = 20, .threads = {2}});
  for (std::size_t v = 0; v < votes.size(); ++v) {
    EXPECT_EQ(one->votes[v].pass1.value, two->votes[v].pass1.value);
    EXPECT_EQ(one->votes[v].decision.ece, two->votes[v].decision.ece);
    EXPECT_EQ(one->votes[v].realised.resampled, two->votes[v].realised.resampled);
  }
}

TEST(Votes, StackedLosesToNobodyAfterHolmAndKnowsHowSureItIs) {
  VotesGroup group("simulated", "stacked");
  const auto votes = every_vote();
  const auto method = std::move(make_calibrator("margin_adaptive")).value();
  for (const std::uint64_t seed : {1U, 2U}) {
    const auto simulation = dataset::simulate("paper", {.seed = seed, .tasks = 250});
    for (const auto& [from, to] : {std::pair{"STEM", "HUM"}, std::pair{"GSM", "COMP"}, std::pair{"TQ1", "TQ2"}, std::pair{"MBPP", "LCB"}}) {
      const auto result = run_votes(condition(*simulation, from, to), *method, votes, {.orderings = 2, .resamples = 400});
      ASSERT_TRUE(result.has_value());
      group.add(*result);
    }
  }
  EXPECT_EQ(group.conditions(), 8U);
  for (const Record& record : group.comparisons().records) EXPECT_EQ(record.losses_after_holm, 0U) << record.rival;
  for (const VotesGroup::Line& line : group.lines()) {
    if (line.label == "stacked") {
      EXPECT_GT(line.in_band, 0.85);
      EXPECT_LT(line.debiased, 0.03);
      const auto realised = percentile_interval(line.realised.resampled);
      ASSERT_TRUE(realised.has_value());
      EXPECT_LE(realised->low, 0.1);
    }
    if (line.label == "best single, committed") {
      ASSERT_TRUE(line.difference.has_value());
      EXPECT_GT(line.difference->interval->low, 0.0);
    }
    if (line.label == "best single, in hindsight") {
      EXPECT_GT(line.difference->value, 0.0);
    }
  }
}

}  // namespace
}  // namespace margin::experiment
