// Shift experiments against plain loops over the same orderings, and what each boundary means.
#include "experiment/shift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "margin/metric.h"
#include "margin/random.h"

namespace margin::experiment {
namespace {

// Models state 0.9 and are right `accuracy` of the time; answers are right or wrong ones at random.
Stream simulated(std::uint64_t seed, double accuracy, std::uint32_t tasks, const std::vector<std::string>& models) {
  Random random(seed);
  Stream stream;
  stream.channel = "verbalized";
  stream.models = models;
  stream.excluded.resize(models.size());
  for (std::uint32_t task = 0; task < tasks; ++task) {
    stream.tasks.push_back({.log_task = task,
                            .first_row = static_cast<std::uint32_t>(stream.rows()),
                            .rows = static_cast<std::uint32_t>(models.size()),
                            .answers = 3});
    for (ModelId model = 0; model < models.size(); ++model) {
      const bool right = random.chance(accuracy);
      stream.model.push_back(model);
      stream.confidence.push_back(0.5 + 0.5 * random.uniform());
      stream.outcome.push_back(right ? 1.0 : 0.0);
      stream.weight.push_back(1.0);
      stream.answer.push_back(right ? 0 : 1 + static_cast<std::uint32_t>(random.below(2)));
      stream.log_row.push_back(static_cast<std::uint32_t>(stream.log_row.size()));
    }
  }
  stream.task_count = tasks;
  return stream;
}

Condition condition() { return make_condition("easy->hard", simulated(1, 0.9, 40, {"a", "b"}), simulated(2, 0.4, 60, {"b", "c", "a"})); }

std::vector<Entrant> entrants(const std::vector<std::string>& names) {
  std::vector<Entrant> all;
  for (const std::string& name : names) all.push_back({name, std::move(make_calibrator(name)).value()});
  return all;
}

std::unique_ptr<Vote> sum_vote() { return std::move(make_vote("sum")).value(); }

ConditionResult run(const std::vector<std::string>& methods, ShiftOptions options) {
  auto result = run_shift(condition(), entrants(methods), *sum_vote(), options);
  EXPECT_TRUE(result.has_value());
  return std::move(*result);
}

ShiftOptions small(Boundary boundary) { return {.boundary = boundary, .orderings = 6, .seed = 5, .resamples = 200, .threads = {2}}; }

// The tasks of one ordering as the experiment shuffles them.
std::vector<std::uint32_t> order_of(const Condition& c, std::uint64_t seed, std::uint64_t ordering) {
  Random random = Random::stream(seed, ordering);
  std::vector<std::uint32_t> order(c.stream.tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  random.shuffle(std::span(order).first(c.source_tasks));
  random.shuffle(std::span(order).subspan(c.source_tasks));
  return order;
}

// One prequential pass in plain words; returns the target's ECE. `at_boundary` may exchange or change the calibrator.
double naive_ece(const Condition& c, std::span<const std::uint32_t> order, std::unique_ptr<Calibrator> calibrator,
                 const std::function<void(std::unique_ptr<Calibrator>&)>& at_boundary) {
  std::vector<double> p, o;
  for (std::size_t position = 0; position < order.size(); ++position) {
    if (position == c.source_tasks) at_boundary(calibrator);
    const Stream::Task& task = c.stream.tasks[order[position]];
    for (std::size_t row = task.first_row; row < task.first_row + task.rows; ++row) calibrator->join(c.stream.model[row]);
    for (std::size_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      if (position < c.source_tasks) continue;
      p.push_back(calibrator->calibrate(c.stream.model[row], c.stream.confidence[row]));
      o.push_back(c.stream.outcome[row]);
    }
    calibrator->begin_task();
    for (std::size_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      EXPECT_TRUE(calibrator->observe({c.stream.model[row], c.stream.confidence[row], c.stream.outcome[row], 1.0}).ok());
    }
    calibrator->end_task();
  }
  return ece({p, o}).value();
}

std::unique_ptr<Calibrator> fresh(const std::string& method) { return std::move(make_calibrator(method)).value(); }

void expect_naive(const std::string& method, Boundary boundary, const std::function<void(std::unique_ptr<Calibrator>&)>& at_boundary) {
  const Condition c = condition();
  const ConditionResult result = run({method}, small(boundary));
  for (std::uint64_t ordering = 0; ordering < 6; ++ordering) {
    const double expected = naive_ece(c, order_of(c, 5, ordering), fresh(method), at_boundary);
    EXPECT_DOUBLE_EQ(*result.entrants[0].by_ordering[ordering][kEce], expected) << method << " ordering " << ordering;
  }
}

void go_on(std::unique_ptr<Calibrator>&) {}

TEST(Shift, ToldLetsOursGoOnAndStartsTheOthersFresh) {
  for (const char* ours : {"margin", "margin_adaptive"}) expect_naive(ours, Boundary::kTold, go_on);
  for (const char* other : {"online_platt", "windowed_accuracy_replace"}) {
    expect_naive(other, Boundary::kTold, [&](auto& calibrator) { calibrator = fresh(other); });
  }
}

TEST(Shift, CarryLetsAllGoOn) {
  for (const char* method : {"margin", "online_platt"}) expect_naive(method, Boundary::kCarry, go_on);
}

TEST(Shift, ResetStartsAllFresh) {
  for (const char* method : {"margin", "margin_adaptive", "decayed_histogram"}) {
    expect_naive(method, Boundary::kReset, [&](auto& calibrator) { calibrator = fresh(method); });
  }
}

TEST(Shift, RestartKeepsMarginsEstimatesWithoutTheirCounts) {
  expect_naive("margin", Boundary::kRestart, [](auto& calibrator) { calibrator->restart_counts(); });
  expect_naive("margin_adaptive", Boundary::kRestart, go_on);
}

TEST(Shift, FitsDesignTimeMethodsOnHalfOfTheSource) {
  const Condition c = condition();
  const ConditionResult result = run({"histogram_binning"}, small(Boundary::kTold));
  const auto order = order_of(c, 5, 3);
  std::vector<Observation> rows;
  for (std::size_t position = 0; position < c.source_tasks / 2; ++position) {
    const Stream::Task& task = c.stream.tasks[order[position]];
    for (std::size_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      rows.push_back({c.stream.model[row], c.stream.confidence[row], c.stream.outcome[row], 1.0});
    }
  }
  auto fitted = fresh("histogram_binning");
  ASSERT_TRUE(fitted->fit(rows).ok());
  const double expected =
      naive_ece(c, std::span(order).subspan(0), fresh("raw"), [&](auto& calibrator) { calibrator = std::move(fitted); });
  EXPECT_DOUBLE_EQ(*result.entrants[0].by_ordering[3][kEce], expected);
}

TEST(Shift, DoesNotDependOnTheNumberOfThreads) {
  ShiftOptions one = small(Boundary::kTold);
  one.threads.count = 1;
  ShiftOptions four = one;
  four.threads.count = 4;
  const ConditionResult a = run({"raw", "margin", "margin_adaptive"}, one);
  const ConditionResult b = run({"raw", "margin", "margin_adaptive"}, four);
  for (std::size_t i = 0; i < a.entrants.size(); ++i) {
    EXPECT_EQ(a.entrants[i].by_ordering, b.entrants[i].by_ordering);
    EXPECT_EQ(a.entrants[i].ece, b.entrants[i].ece);
    EXPECT_EQ(a.entrants[i].brier, b.entrants[i].brier);
    EXPECT_EQ(a.entrants[i].pass1, b.entrants[i].pass1);
  }
}

TEST(Shift, SelectedFeedbackTeachesOnlyTheSelectedAnswersSupporters) {
  ShiftOptions options = small(Boundary::kReset);
  options.pass.feedback = Feedback::kSelected;
  const Condition c = condition();
  const auto result = run_shift(c, entrants({"margin"}), *sum_vote(), options);
  const auto order = order_of(c, 5, 0);
  auto calibrator = fresh("margin");
  std::vector<double> p, o;
  for (const std::uint32_t number : std::span(order).subspan(c.source_tasks)) {
    const Stream::Task& task = c.stream.tasks[number];
    std::array<double, 3> scores{};
    std::vector<double> calibrated;
    for (std::size_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      calibrator->join(c.stream.model[row]);
      calibrated.push_back(calibrator->calibrate(c.stream.model[row], c.stream.confidence[row]));
      scores[c.stream.answer[row]] += calibrated.back();
      p.push_back(calibrated.back());
      o.push_back(c.stream.outcome[row]);
    }
    // The first answer wins a tie of equal scores, and an answer nobody gave cannot win.
    std::uint32_t winner = c.stream.answer[task.first_row];
    std::vector<std::uint32_t> by_appearance(c.stream.answer.begin() + task.first_row,
                                             c.stream.answer.begin() + task.first_row + task.rows);
    for (const std::uint32_t answer : by_appearance) {
      if (scores[answer] > scores[winner]) winner = answer;
    }
    for (std::size_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      if (c.stream.answer[row] != winner) continue;
      ASSERT_TRUE(calibrator->observe({c.stream.model[row], c.stream.confidence[row], c.stream.outcome[row], 1.0}).ok());
    }
  }
  EXPECT_DOUBLE_EQ(*result->entrants[0].by_ordering[0][kEce], ece({p, o}).value());
}

TEST(Shift, ComparesTheFocusWithEveryOther) {
  const std::vector<ConditionResult> results = {run({"raw", "margin"}, small(Boundary::kTold))};
  const auto table = compare(results, "margin", Compared::kEce);
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->records.size(), 1U);
  EXPECT_EQ(table->records[0].rival, "raw");
  EXPECT_EQ(table->records[0].wins, 1U) << "models that state 0.75 and are right 0.4 of the time";
  EXPECT_LT(table->comparisons[0].mean, 0.0);
  const auto& entrants = results[0].entrants;
  EXPECT_DOUBLE_EQ(table->comparisons[0].mean, *entrants[1].scores.mean[kEce] - *entrants[0].scores.mean[kEce]);
  EXPECT_FALSE(compare(results, "platt", Compared::kEce).ok());
}

TEST(Shift, StopsWhenAsked) {
  Progress progress;
  progress.stop = true;
  EXPECT_FALSE(run_shift(condition(), entrants({"raw"}), *sum_vote(), small(Boundary::kTold), &progress).has_value());
}

}  // namespace
}  // namespace margin::experiment
