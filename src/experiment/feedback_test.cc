// Replays in which only some outcomes arrive: against plain loops, and on a cohort whose truth is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "dataset/paper_cohort.h"
#include "dataset/simulate.h"
#include "experiment/ordering.h"
#include "experiment/regime.h"
#include "experiment/shown.h"
#include "experiment/test_stream.h"

namespace margin::experiment {
namespace {

std::unique_ptr<Calibrator> fresh(const char* method) { return std::move(make_calibrator(method)).value(); }
std::unique_ptr<Vote> sum_vote() { return std::move(make_vote("sum")).value(); }

// One answer right per task: group 0 of the test stream.
Stream test_stream() { return make_test_stream({.seed = 5, .tasks = 150, .models = {"a", "b", "c", "d"}, .skill = 0.7, .ungraded = 0.0}); }

struct PlainTask {
  std::size_t first = 0, end = 0;
  std::uint32_t selected = kNoAnswer;
  double outcome = 0.0;  // of the selected answer
};

// A pass in plain words: `teach(calibrator, task)` is called for every task after it was calibrated and selected by the largest sum.
template <class Teach>
std::vector<double> plain_pass(const Stream& stream, const char* method, const Teach& teach) {
  const auto calibrator = fresh(method);
  std::vector<double> calibrated(stream.rows());
  for (std::uint32_t number = 0; number < stream.tasks.size(); ++number) {
    const Stream::Task& task = stream.tasks[number];
    PlainTask plain{.first = task.first_row, .end = std::size_t{task.first_row} + task.rows};
    for (std::size_t row = plain.first; row < plain.end; ++row) calibrator->join(stream.model[row]);
    std::vector<double> score(task.answers, -1.0);
    for (std::size_t row = plain.first; row < plain.end; ++row) {
      calibrated[row] = calibrator->calibrate(stream.model[row], stream.confidence[row]);
      score[stream.answer[row]] = std::max(score[stream.answer[row]], 0.0) + calibrated[row];
    }
    for (std::uint32_t answer = 0; answer < task.answers; ++answer) {
      if (score[answer] >= 0.0 && (plain.selected == kNoAnswer || score[answer] > score[plain.selected])) plain.selected = answer;
    }
    for (std::size_t row = plain.first; row < plain.end; ++row) {
      if (stream.answer[row] == plain.selected) plain.outcome = stream.outcome[row];
    }
    calibrator->begin_task();
    teach(*calibrator, plain, number);
    calibrator->end_task();
  }
  return calibrated;
}

TEST(SelectedFeedback, ImpliedOutcomesAreWhatPlainReasoningGives) {
  const Stream stream = test_stream();
  for (const char* method : {"margin", "margin_adaptive"}) {
    const auto expected = plain_pass(stream, method, [&](Calibrator& calibrator, const PlainTask& task, std::uint32_t) {
      for (std::size_t row = task.first; row < task.end; ++row) {
        const bool supports = stream.answer[row] == task.selected;
        const double outcome = supports ? task.outcome : task.outcome == 1.0 ? 0.0 : 0.25;
        EXPECT_TRUE(calibrator.observe({stream.model[row], stream.confidence[row], outcome}).ok());
      }
    });
    const Pass pass =
        replay(stream, file_order(stream), *fresh(method), *sum_vote(), {.feedback = Feedback::kSelected, .remedy = RemedyKind::kImplied});
    EXPECT_EQ(pass.calibrated, expected) << method;
  }
}

// What is implied is known only beside a right selection: a vote taught by that would learn that whoever it follows is right.
TEST(SelectedFeedback, VotesLearnWhatIsKnownAndNothingImplied) {
  const Stream stream = test_stream();
  const auto vote = std::move(make_vote("stacked")).value();
  const Pass pass =
      replay(stream, file_order(stream), *fresh("margin"), *vote, {.feedback = Feedback::kSelected, .remedy = RemedyKind::kImplied});
  for (std::uint32_t number = 0; number < stream.tasks.size(); ++number) {
    const Stream::Task& task = stream.tasks[number];
    std::vector<Ballot> ballots;
    std::vector<double> outcomes;
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      ballots.push_back({.model = stream.model[row], .answer = stream.answer[row], .confidence = pass.calibrated[row]});
    }
    Tally tally;
    vote->tally(ballots, task.answers, tally);
    ASSERT_EQ(pass.selections[number].share, tally.share) << "task " << number;
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      outcomes.push_back(stream.answer[row] == tally.winner ? stream.outcome[row] : std::numeric_limits<double>::quiet_NaN());
    }
    vote->learn(ballots, task.answers, outcomes);
  }
}

TEST(SelectedFeedback, AuditedOutcomesArriveToo) {
  const Stream stream = test_stream();
  const AuditPlan plan{.rate = 0.3, .seed = 77};
  std::size_t audited = 0, beside = 0;
  const auto expected = plain_pass(stream, "margin", [&](Calibrator& calibrator, const PlainTask& task, std::uint32_t number) {
    std::set<std::size_t> asked;
    const std::vector<std::uint32_t> answers(stream.answer.begin() + static_cast<std::ptrdiff_t>(task.first),
                                             stream.answer.begin() + static_cast<std::ptrdiff_t>(task.end));
    for (const Audit& audit : audits_of(plan, number, answers, task.selected)) asked.insert(task.first + audit.response);
    audited += asked.size();
    for (std::size_t row = task.first; row < task.end; ++row) {
      const bool supports = stream.answer[row] == task.selected;
      beside += !supports;
      if (!supports && !asked.contains(row)) continue;
      EXPECT_TRUE(calibrator.observe({stream.model[row], stream.confidence[row], stream.outcome[row]}).ok());
    }
  });
  EXPECT_GT(audited, 0U);
  EXPECT_LT(audited, beside);
  const Pass pass = replay(stream, file_order(stream), *fresh("margin"), *sum_vote(), {.feedback = Feedback::kSelected, .audits = plan});
  EXPECT_EQ(pass.calibrated, expected);
}

TEST(SelectedFeedback, WithEveryResponseAuditedARemedyHasNothingToDo) {
  const Stream stream = test_stream();
  const Pass full = replay(stream, file_order(stream), *fresh("margin_adaptive"), *sum_vote());
  for (const RemedyKind remedy : {RemedyKind::kWeighted, RemedyKind::kImplied, RemedyKind::kEstimated}) {
    const Pass pass = replay(stream, file_order(stream), *fresh("margin_adaptive"), *sum_vote(),
                             {.feedback = Feedback::kSelected, .remedy = remedy, .audits = {.rate = 1.0}});
    EXPECT_EQ(pass.calibrated, full.calibrated);
  }
}

TEST(SelectedFeedback, WithALagATaskIsLearnedOnceItsLastRowIsDue) {
  const Stream stream = test_stream();
  PassOptions options{.lag = 3, .feedback = Feedback::kSelected, .remedy = RemedyKind::kImplied};
  const Pass pass = replay(stream, file_order(stream), *fresh("margin"), *sum_vote(), options);
  // Until the rows of the first task are all more than three rows old, everything is calibrated by the entry state.
  const auto entry = fresh("margin");
  std::size_t learned_from = 0;
  for (const Stream::Task& task : stream.tasks) {
    if (task.first_row < stream.tasks[0].rows + options.lag) continue;
    learned_from = task.first_row;
    break;
  }
  for (std::size_t row = 0; row < learned_from; ++row) {
    entry->join(stream.model[row]);
    EXPECT_EQ(pass.calibrated[row], entry->calibrate(stream.model[row], stream.confidence[row]));
  }
}

// The published pairs of phases whose tasks have one right answer (or many) on a simulated cohort.
std::vector<Condition> paper_conditions(const dataset::Simulation& simulation, bool one_right_answer) {
  const auto cloud = dataset::paper_cloud_models();
  const std::vector<std::string> models(cloud.begin(), cloud.end());
  std::vector<Condition> conditions;
  for (const dataset::PaperCondition& pair : dataset::paper_conditions()) {
    const auto phases = dataset::paper_phases();
    const auto target = std::find_if(phases.begin(), phases.end(), [&](const auto& phase) { return phase.name == pair.target; });
    if ((target->kind != AnswerKind::kCode) != one_right_answer) continue;
    const auto stream = [&](std::string_view phase) {
      const RowSelection rows{.phases = {std::string(phase)}, .models = pair.local_models ? std::vector<std::string>() : models};
      return std::move(std::move(make_streams(simulation.log, rows)).value().front());
    };
    conditions.push_back(make_condition(std::string(pair.name), stream(pair.source), stream(pair.target)));
  }
  return conditions;
}

// Regimes: what full feedback, the selected answer alone, the remedy, and the remedy with a tenth audited come to.
enum : std::size_t { kFull, kAlone, kRemedied, kAudited, kRegimes };

RegimeResults run(const Condition& condition, RemedyKind remedy, Boundary boundary) {
  std::vector<Entrant> entrants;
  for (const char* method : {"margin", "margin_adaptive"}) entrants.push_back({method, fresh(method)});
  const FeedbackGrid grid{.lags = {0}, .selected = true, .remedies = {remedy}, .audits = {0.0, 0.1}};
  auto results = run_regimes(condition, entrants, *sum_vote(), feedback_regimes(grid, boundary), {.orderings = 6, .resamples = 300});
  EXPECT_TRUE(results.has_value());
  EXPECT_EQ(results->labels.size(), kRegimes);
  return std::move(*results);
}

// The interval of the change of ECE from one regime to another, and its mean over several results.
report::Interval change(const RegimeResults& results, std::size_t from, std::size_t to, std::size_t method) {
  const auto estimate = difference(results.results[to].entrants[method], results.results[from].entrants[method], kEce);
  EXPECT_TRUE(estimate && estimate->interval);
  return *estimate->interval;
}
double mean_change(const std::vector<RegimeResults>& results, std::size_t from, std::size_t to, std::size_t method) {
  double sum = 0.0;
  for (const RegimeResults& one : results) {
    sum += *level(one.results[to].entrants[method], kEce) - *level(one.results[from].entrants[method], kEce);
  }
  return sum / static_cast<double>(results.size());
}

std::vector<RegimeResults> run_all(bool one_right_answer, RemedyKind remedy, Boundary boundary) {
  const auto simulation = std::move(dataset::simulate("paper", {.seed = 11})).value();
  std::vector<RegimeResults> all;
  for (const Condition& condition : paper_conditions(simulation, one_right_answer)) all.push_back(run(condition, remedy, boundary));
  return all;
}

TEST(SelectedFeedback, OneRightAnswerImpliesNearlyAllThatFullFeedbackTeaches) {
  for (const Boundary boundary : {Boundary::kTold, Boundary::kReset}) {
    const auto all = run_all(true, RemedyKind::kImplied, boundary);
    ASSERT_EQ(all.size(), 3U);
    for (std::size_t method = 0; method < 2; ++method) {
      for (const RegimeResults& one : all) {
        EXPECT_GT(change(one, kFull, kAlone, method).low, 0.0) << one.condition << ": the selected answer alone misleads";
        EXPECT_LT(change(one, kAlone, kRemedied, method).high, 0.0) << one.condition << ": what it implies is worth more";
      }
      EXPECT_LT(mean_change(all, kFull, kRemedied, method), 0.01);
    }
  }
}

TEST(SelectedFeedback, EstimatesAndAuditsMakeUpForMostOfWhatIsMissingWhereManyAnswersAreRight) {
  for (const Boundary boundary : {Boundary::kTold, Boundary::kReset}) {
    const auto all = run_all(false, RemedyKind::kEstimated, boundary);
    ASSERT_EQ(all.size(), 8U);
    for (std::size_t method = 0; method < 2; ++method) {
      for (const RegimeResults& one : all) {
        EXPECT_GT(change(one, kFull, kAlone, method).low, 0.0) << one.condition << ": the selected answer alone misleads";
        // HE->HE+ is no shift to speak of, and there is little to make up for.
        const report::Interval gain = change(one, kAlone, kAudited, method);
        EXPECT_LT(one.condition == "HE->HE+" ? gain.low : gain.high, 0.0) << one.condition << ": a tenth audited is worth more";
      }
      EXPECT_LT(mean_change(all, kRemedied, kAudited, method), 0.0);
      EXPECT_LT(mean_change(all, kFull, kAudited, method), 0.03);
    }
  }
}

}  // namespace
}  // namespace margin::experiment
