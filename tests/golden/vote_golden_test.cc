// Every vote on raw confidences against the golden selections: selected answers, pass@1, and the probabilities that `stacked` states.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "golden_data.h"
#include "margin/vote.h"

namespace margin {
namespace {

constexpr double kTolerance = 1e-9;

struct Task {
  std::vector<Ballot> ballots;
  std::vector<double> outcomes;
  AnswerGroups answers;
};

std::vector<Task> tasks_of(const golden::Stream& stream) {
  std::vector<Task> tasks;
  for (const std::vector<std::size_t>& rows : stream.tasks) {
    Task& task = tasks.emplace_back();
    std::vector<std::optional<std::string_view>> texts;
    for (const std::size_t r : rows) {
      const golden::Row& row = stream.rows[r];
      if (!row.usable()) continue;
      task.ballots.push_back({.model = row.id, .confidence = *row.confidence});
      task.outcomes.push_back(row.outcome.value_or(std::numeric_limits<double>::quiet_NaN()));
      texts.push_back(row.answer);
    }
    task.answers = group_answers(AnswerKind::kExact, texts);
    for (std::size_t i = 0; i < texts.size(); ++i) task.ballots[i].answer = task.answers.group[i];
  }
  return tasks;
}

// Decides every task before it is learned.
void expect_selection(const golden::Selection& expected, const std::vector<Task>& tasks) {
  SCOPED_TRACE(expected.vote);
  // The vectors are of version 1.
  auto vote = make_vote(expected.vote, 1, {});
  ASSERT_TRUE(vote.ok());
  ASSERT_EQ(expected.selected.size(), tasks.size());
  ASSERT_EQ(expected.probability.size(), expected.vote == "stacked" ? tasks.size() : 0);

  Tally tally;
  double outcomes = 0.0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Task& task = tasks[t];
    const auto answers = static_cast<std::uint32_t>(task.answers.canonical.size());
    (*vote)->tally(task.ballots, answers, tally);
    ASSERT_NE(tally.winner, kNoAnswer);
    ASSERT_EQ(task.answers.canonical[tally.winner], expected.selected[t]) << "task " << t;
    if (!expected.probability.empty()) {
      ASSERT_NEAR(tally.share, expected.probability[t], kTolerance) << "task " << t;
    }
    double best = 0.0;
    for (std::size_t i = 0; i < task.ballots.size(); ++i) {
      if (task.ballots[i].answer == tally.winner) best = std::max(best, task.outcomes[i]);
    }
    outcomes += best;
    (*vote)->learn(task.ballots, answers, task.outcomes);
  }
  EXPECT_NEAR(outcomes / static_cast<double>(tasks.size()), expected.pass1, kTolerance);
}

class VoteGolden : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Streams, VoteGolden, testing::Values("edges", "shift", "zeros"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(VoteGolden, SelectionsOfRawConfidencesAgree) {
  const std::vector<Task> tasks = tasks_of(golden::read_stream(GetParam()));
  std::size_t votes = 0;
  for (const golden::Selection& expected : golden::read_selections(GetParam())) {
    if (expected.method != "raw") continue;
    expect_selection(expected, tasks);
    ++votes;
  }
  EXPECT_EQ(votes, vote_catalog().size());
}

}  // namespace
}  // namespace margin
