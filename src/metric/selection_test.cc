#include <gtest/gtest.h>

#include <vector>

#include "margin/selection_metric.h"

namespace margin {
namespace {

using Task = std::vector<GradedResponse>;

GradedResponse response(ModelId model, std::uint32_t answer, std::optional<double> outcome, std::optional<double> confidence = 0.5) {
  return {.model = model, .answer = answer, .stated = confidence, .calibrated = confidence.value_or(0.0), .outcome = outcome};
}

std::vector<GradedTask> views(const std::vector<Task>& tasks) { return {tasks.begin(), tasks.end()}; }

TEST(Selection, AnAnswerIsWorthItsBestGrade) {
  const Task task = {response(0, 1, 0.25), response(1, 1, 0.75), response(2, 0, 1.0), response(3, 1, std::nullopt)};
  EXPECT_EQ(answer_outcome(task, 1), 0.75);
  EXPECT_EQ(oracle_outcome(task), 1.0);
  EXPECT_NEAR(*random_outcome(task), 2.0 / 3.0, 1e-16);
  EXPECT_FALSE(answer_outcome(task, 5).has_value());
  EXPECT_FALSE(answer_outcome(task, kNoAnswer).has_value());
}

TEST(Selection, UnusableResponsesAreNotScored) {
  const Task task = {response(0, 0, 1.0, std::nullopt), response(1, 0, 0.0)};
  EXPECT_EQ(answer_outcome(task, 0), 0.0);
  EXPECT_EQ(oracle_outcome(task), 0.0);
  EXPECT_FALSE(model_outcome(task, 0).has_value());
}

TEST(Selection, ATaskWithoutVotesIsLeftOut) {
  const std::vector<Task> tasks = {{response(0, 0, 1.0), response(1, 1, 0.0)}, {response(0, kNoAnswer, 0.0)}, {response(0, 0, 0.5)}};
  const TaskMean mean = pass_at_1(views(tasks), std::vector<std::uint32_t>{0, kNoAnswer, 0});
  EXPECT_EQ(mean.value, 0.75);
  EXPECT_EQ(mean.tasks, 2U);
  EXPECT_EQ(oracle(views(tasks)).value, 0.5);
  EXPECT_EQ(random_pick(views(tasks)).value, (0.5 + 0.0 + 0.5) / 3.0);
  EXPECT_FALSE(pass_at_1({}, {}).value.has_value());
}

TEST(Selection, BestSingleLooksAtCommonTasksAndBreaksTiesByName) {
  const std::vector<std::string> names = {"zeta", "alpha", "mid", "absent"};
  std::vector<Task> tasks = {
      {response(0, 0, 1.0), response(1, 0, 1.0), response(2, 0, 0.0)},
      {response(0, 0, 0.0), response(1, 1, 0.0), response(2, 2, 0.5)},
      {response(2, 0, 1.0)},  // not common: the other two did not answer
      {response(2, 0, 1.0), response(0, 1, 0.0)},
  };
  const BestSingle best = *best_single(views(tasks), names);
  EXPECT_EQ(best.model, 1U);
  EXPECT_EQ(best.outcome, 0.5);
  EXPECT_EQ(best.common_tasks, 2U);
  EXPECT_EQ(single(views(tasks), 2).value, 0.625);
  EXPECT_EQ(single(views(tasks), 2).tasks, 4U);
  tasks.erase(tasks.begin(), tasks.begin() + 2);
  tasks.push_back({response(1, 0, 1.0)});
  EXPECT_FALSE(best_single(views(tasks), names).has_value());
  EXPECT_FALSE(best_single({}, names).has_value());
}

TEST(Selection, CommittedBestSingleIsChosenElsewhere) {
  const std::vector<std::string> names = {"a", "b"};
  const std::vector<Task> before = {{response(0, 0, 1.0), response(1, 1, 0.0)}};
  const std::vector<Task> after = {{response(0, 0, 0.0), response(1, 1, 1.0)}};
  EXPECT_EQ(best_single(views(after), names)->model, 1U);
  EXPECT_EQ(single(views(after), best_single(views(before), names)->model).value, 0.0);
}

TEST(Selection, GapClosedIsUndefinedAtAPerfectBase) {
  EXPECT_NEAR(*(GapClosed{.ours = 0.7, .base = 0.6, .oracle = 0.8}.value()), 0.5, 1e-12);
  EXPECT_LT(*(GapClosed{.ours = 0.5, .base = 0.6, .oracle = 0.8}.value()), 0.0);
  EXPECT_FALSE((GapClosed{.ours = 0.8, .base = 0.8, .oracle = 0.8}.value()).has_value());
}

Resolution resolve(const Task& task, ContestRule contest, TieRule tie = TieRule::kHalf, MissingRule missing = MissingRule::kLeftOut) {
  return resolution(task, {.contest = contest, .tie = tie, .missing = missing});
}

TEST(Resolution, TheMoreConfidentOfTwoShouldBeRight) {
  EXPECT_EQ(resolve({response(0, 0, 1.0, 0.9), response(1, 1, 0.0, 0.4)}, ContestRule::kPassed).value(), 1.0);
  EXPECT_EQ(resolve({response(0, 0, 1.0, 0.3), response(1, 1, 0.0, 0.4)}, ContestRule::kPassed).value(), 0.0);
  EXPECT_EQ(resolve({response(0, 0, 0.0, 0.3), response(1, 1, 1.0, 0.4)}, ContestRule::kPassed).value(), 1.0);
  EXPECT_EQ(resolve({response(0, 0, 0.25, 0.3), response(1, 1, 0.5, 0.4)}, ContestRule::kPassed).value(), 1.0);
}

TEST(Resolution, EqualOutcomesAreCountedButNoContest) {
  const Task task = {response(0, 0, 1.0), response(1, 0, 1.0), response(2, 1, 0.0),
                     response(3, 1, 0.0), response(4, 2, 0.0), response(5, 2, std::nullopt)};
  const Resolution counts = resolve(task, ContestRule::kPassed);
  EXPECT_EQ(counts.both_right, 1U);
  EXPECT_EQ(counts.both_wrong, 3U);
  EXPECT_EQ(counts.contests, 6U);
  EXPECT_EQ(counts.ties, 6U);
  EXPECT_EQ(counts.value(), 0.5);
}

TEST(Resolution, TieRules) {
  Task task = {response(0, 0, 1.0, 0.9), response(1, 1, 0.0, 0.4)};
  task[0].calibrated = task[1].calibrated = 0.6;
  EXPECT_EQ(resolve(task, ContestRule::kPassed, TieRule::kHalf).value(), 0.5);
  EXPECT_FALSE(resolve(task, ContestRule::kPassed, TieRule::kStrict).value().has_value());
  EXPECT_EQ(resolve(task, ContestRule::kPassed, TieRule::kStrict).ties, 1U);
  EXPECT_EQ(resolve(task, ContestRule::kPassed, TieRule::kRaw).value(), 1.0);
  task[0].stated = 0.1;
  EXPECT_EQ(resolve(task, ContestRule::kPassed, TieRule::kRaw).value(), 0.0);
  task[0].stated = task[1].stated;
  EXPECT_FALSE(resolve(task, ContestRule::kPassed, TieRule::kRaw).value().has_value());
  EXPECT_EQ(resolve(task, ContestRule::kPassed, TieRule::kRaw).ties, 1U);
}

TEST(Resolution, MissingConfidenceIsLeftOutOrHalf) {
  const Task task = {response(0, 0, 1.0, std::nullopt), response(1, 1, 0.0, 0.4), response(2, 2, 0.0, std::nullopt)};
  const Resolution left_out = resolve(task, ContestRule::kPassed);
  EXPECT_FALSE(left_out.value().has_value());
  EXPECT_EQ(left_out.missing, 2U);
  const Resolution half = resolve(task, ContestRule::kPassed, TieRule::kStrict, MissingRule::kHalf);
  EXPECT_EQ(half.contests, 2U);
  EXPECT_EQ(half.value(), 0.5);
}

TEST(Resolution, ContestsByAnswers) {
  // Two different right programs: resolved, whatever the confidences. Same answer or no answer: no contest. Neither right: both wrong.
  const Resolution two_right = resolve({response(0, 0, 1.0, 0.2), response(1, 1, 1.0, 0.2)}, ContestRule::kAnswers);
  EXPECT_EQ(two_right.value(), 1.0);
  EXPECT_EQ(two_right.both_right, 1U);
  EXPECT_EQ(two_right.ties, 0U);
  EXPECT_EQ(resolve({response(0, 0, 1.0), response(1, 0, 1.0)}, ContestRule::kAnswers).contests, 0U);
  EXPECT_EQ(resolve({response(0, 0, 1.0), response(1, kNoAnswer, 0.0)}, ContestRule::kAnswers).contests, 0U);
  const Resolution neither = resolve({response(0, 0, 0.0), response(1, 1, 0.25)}, ContestRule::kAnswers);
  EXPECT_EQ(neither.contests, 0U);
  EXPECT_EQ(neither.both_wrong, 1U);
  EXPECT_EQ(resolve({response(0, 0, 1.0, 0.2), response(1, 1, 0.0, 0.3)}, ContestRule::kAnswers).value(), 0.0);
}

TEST(Resolution, RulesAreReadByName) {
  EXPECT_EQ(*parse_contest_rule("answers"), ContestRule::kAnswers);
  EXPECT_EQ(*parse_tie_rule("raw"), TieRule::kRaw);
  EXPECT_EQ(*parse_missing_rule("half"), MissingRule::kHalf);
  const Result<TieRule> unknown = parse_tie_rule("coin");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message, "tie: 'coin' is not one of half, strict, raw");
}

}  // namespace
}  // namespace margin
