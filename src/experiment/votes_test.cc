#include "experiment/votes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "dataset/simulate.h"
#include "experiment/replay.h"
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

// pass@1 of the first 50 tasks of a fresh vote, from replays; by ordering the outcome of each of these tasks.
std::vector<std::map<std::uint32_t, double>> first_outcomes(const Condition& shift, const Calibrator& method, const Vote& vote,
                                                            std::uint32_t orderings, std::uint64_t seed) {
  std::vector<std::map<std::uint32_t, double>> outcomes(orderings);
  for (std::uint32_t number = 0; number < orderings; ++number) {
    const auto order = shuffled(shift, seed, number);
    const Pass pass = replay(shift.stream, order, method, vote);
    for (std::size_t place = 0; place < 50; ++place) {
      const Stream::Task& task = shift.stream.tasks[order[place]];
      for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
        if (shift.stream.answer[row] != pass.selections[order[place]].answer || std::isnan(shift.stream.outcome[row])) continue;
        double& best = outcomes[number][order[place]];
        best = std::max(best, shift.stream.outcome[row]);
      }
    }
  }
  return outcomes;
}

TEST(Votes, FirstTasksAreComparedOnTheSameTasksOfTheSource) {
  const auto simulation = dataset::simulate("paper", {.tasks = 80});
  const auto method = std::move(make_calibrator("margin")).value();
  std::vector<VoteEntrant> votes;
  for (const char* name : {"stacked", "majority"}) votes.push_back({name, std::move(make_vote(name)).value()});
  VotesGroup group("two", "stacked");
  double expected = 0.0;
  Resampled ours(40, 0.0), theirs(40, 0.0);
  for (const auto& [from, to] : {std::pair{"STEM", "HUM"}, std::pair{"GSM", "COMP"}}) {
    const Condition shift = condition(*simulation, from, to);
    const auto result = run_votes(shift, *method, votes, {.orderings = 3, .seed = 5, .resamples = 40, .threads = {1}});
    ASSERT_TRUE(result.has_value());
    group.add(*result);
    const TaskResamples resamples({.tasks = shift.source_tasks, .resamples = 40, .seed = 5});
    for (std::size_t v = 0; v < 2; ++v) {
      double mean = 0.0;
      for (const auto& ordering : first_outcomes(shift, *method, *votes[v].vote, 3, 5)) {
        double right = 0.0;
        for (const auto& [_, outcome] : ordering) right += outcome;
        mean += right / static_cast<double>(ordering.size()) / 3.0;
        for (std::size_t b = 0; b < 40; ++b) {
          double drawn_right = 0.0, drawn = 0.0;
          for (const auto& [task, outcome] : ordering) {
            drawn_right += resamples.counts(b)[task] * outcome;
            drawn += resamples.counts(b)[task];
          }
          *(v == 0 ? ours : theirs)[b] += drawn_right / drawn / 6.0;
        }
      }
      EXPECT_NEAR(*result->votes[v].first.value, mean, 1e-12);
      expected += (v == 0 ? mean : -mean) / 2.0;
    }
  }
  const auto lines = group.lines();
  EXPECT_FALSE(lines[0].first_difference.has_value()) << "nothing is compared with itself";
  ASSERT_TRUE(lines[1].first_difference && lines[1].first_difference->interval);
  EXPECT_NEAR(lines[1].first_difference->value, expected, 1e-12);
  const auto interval = paired_difference(ours, theirs, Better::kHigher).interval;
  EXPECT_NEAR(lines[1].first_difference->interval->low, interval->low, 1e-12);
  EXPECT_NEAR(lines[1].first_difference->interval->high, interval->high, 1e-12);
  EXPECT_LT(interval->low, interval->high);
  for (std::size_t i = 2; i < lines.size(); ++i) EXPECT_FALSE(lines[i].first_difference.has_value()) << "a single model starts nowhere";
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
