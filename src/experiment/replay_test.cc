#include "experiment/replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "experiment/evaluation.h"
#include "experiment/ordering.h"
#include "experiment/stream.h"
#include "margin/random.h"

namespace margin::experiment {
namespace {

using dataset::ObservationLog;
using dataset::Row;

// A log written in the test itself.
class LogWriter {
 public:
  LogWriter& row(const Row& row) {
    const Status status = log_.append(row, static_cast<std::uint32_t>(log_.rows() + 1));
    EXPECT_TRUE(status.ok()) << status.error().message;
    return *this;
  }
  [[nodiscard]] const ObservationLog& log() const { return log_; }
  [[nodiscard]] Stream stream(const RowSelection& selection = {}) const {
    auto streams = make_streams(log_, selection);
    EXPECT_TRUE(streams.ok() && streams->size() == 1);
    return std::move(streams->front());
  }

 private:
  ObservationLog log_;
};

// A pool of three models; some responses are missing, ungraded, weighted or of a segment.
LogWriter random_log(std::uint64_t seed, std::size_t tasks) {
  Random random(seed);
  LogWriter writer;
  const std::string models[] = {"a", "b", "c"};
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::string task = "t" + std::to_string(t);
    const std::string segment = random.chance(0.5) ? "" : random.chance(0.5) ? "s1" : "s2";
    for (const std::string& model : models) {
      if (random.chance(0.2)) continue;
      const double confidence = random.uniform();
      const double correct = random.chance(0.1) ? dataset::kMissing : random.chance(0.6) ? 1.0 : 0.0;
      const double weight = random.chance(0.3) ? 0.5 : 1.0;
      writer.row({.task = task,
                  .model = model,
                  .segment = segment,
                  .answer = correct == 1.0 ? "yes" : "no",
                  .confidence = confidence,
                  .correct = correct,
                  .weight = weight});
    }
  }
  return writer;
}

std::unique_ptr<Calibrator> calibrator(std::string_view identifier, const Parameters& parameters = {}) {
  return std::move(make_calibrator(identifier, parameters)).value();
}

std::unique_ptr<Vote> vote(std::string_view identifier) { return std::move(make_vote(identifier)).value(); }

// The definition, row by row and without any bookkeeping: before the task whose first row is s, the state is made anew from the rows
// r < s - lag. Joins happen where the pass had them: before the model's first task in that state.
std::vector<double> twin(const Stream& stream, std::span<const std::uint32_t> order, const Calibrator& fresh, std::size_t lag) {
  std::vector<std::size_t> rows;  // in replay order
  std::vector<std::size_t> first;
  for (const std::uint32_t task : order) {
    first.push_back(rows.size());
    for (std::size_t i = 0; i < stream.tasks[task].rows; ++i) rows.push_back(stream.tasks[task].first_row + i);
  }
  const auto task_of = [&](std::size_t row) {
    return static_cast<std::size_t>(
        std::find_if(stream.tasks.begin(), stream.tasks.end(),
                     [&](const Stream::Task& task) { return row >= task.first_row && row < std::size_t{task.first_row} + task.rows; }) -
        stream.tasks.begin());
  };
  std::vector<double> calibrated(stream.rows());
  for (std::size_t now = 0; now < order.size(); ++now) {
    std::vector<std::unique_ptr<Calibrator>> states;
    for (int segment = 0; segment < 3; ++segment) states.push_back(fresh.clone());
    std::size_t learned = 0;
    for (std::size_t past = 0; past <= now; ++past) {
      const std::size_t due = first[past] > lag ? first[past] - lag : 0;
      for (std::size_t open = order.size(); learned < due; ++learned) {
        const std::size_t row = rows[learned];
        const std::size_t task = task_of(row);
        Calibrator& state = *states[stream.tasks[task].segment];
        const bool last = learned + 1 == due || task_of(rows[learned + 1]) != task;
        if (!std::isnan(stream.outcome[row])) {
          if (open != task) state.begin_task();
          open = task;
          EXPECT_TRUE(state.observe({stream.model[row], stream.confidence[row], stream.outcome[row], stream.weight[row]}).ok());
        }
        if (last && open == task) state.end_task();
      }
      const Stream::Task& task = stream.tasks[order[past]];
      Calibrator& state = *states[task.segment];
      for (std::size_t i = 0; i < task.rows; ++i) {
        const ModelId model = stream.model[task.first_row + i];
        if (state.known(model)) continue;
        if (task.segment != 0 && states[0]->known(model)) {
          state.join_from(model, *states[0], model);
        } else {
          state.join(model);
        }
      }
    }
    const Stream::Task& task = stream.tasks[order[now]];
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      calibrated[row] = states[task.segment]->calibrate(stream.model[row], stream.confidence[row]);
    }
  }
  return calibrated;
}

TEST(ReplayTest, EqualsTheDefinitionForEveryLag) {
  const LogWriter writer = random_log(7, 60);
  const Stream stream = writer.stream();
  ASSERT_GT(stream.ungraded, 0U);
  const auto method = calibrator("margin", {{"alpha", 0.2}, {"shrinkage", 3.0}});
  for (const std::size_t lag : {0U, 1U, 2U, 5U, 17U, 1000U}) {
    const auto order = shuffled_order(stream, 3, lag);
    EXPECT_EQ(replay(stream, order, *method, *vote("sum"), {.lag = lag}).calibrated, twin(stream, order, *method, lag)) << "lag " << lag;
  }
}

TEST(ReplayTest, TaskIsCalibratedWithTheStateBeforeIt) {
  LogWriter writer;
  writer.row({.task = "t", .model = "a", .confidence = 0.8, .correct = 0.0});
  writer.row({.task = "t", .model = "b", .confidence = 0.8, .correct = 0.0});
  writer.row({.task = "u", .model = "a", .confidence = 0.8, .correct = 0.0});
  const Stream stream = writer.stream();
  const Pass pass = replay(stream, file_order(stream), *calibrator("windowed_accuracy_replace"), *vote("sum"));
  EXPECT_EQ(pass.calibrated, (std::vector<double>{0.8, 0.8, 0.0}));
}

TEST(ReplayTest, LearningVoteLearnsWhenTheWholeTaskIsDue) {
  const LogWriter writer = random_log(11, 80);
  const Stream stream = writer.stream();
  const auto order = file_order(stream);
  const auto raw = calibrator("raw");
  const Pass at_once = replay(stream, order, *raw, *vote("stacked"));
  const Pass never = replay(stream, order, *raw, *vote("stacked"), {.lag = stream.rows()});

  // By hand: tally every task, then learn it.
  const auto learning = vote("stacked");
  const auto fixed = vote("stacked");
  Tally tally;
  for (const std::uint32_t number : order) {
    const Stream::Task& task = stream.tasks[number];
    std::vector<Ballot> ballots;
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      ballots.push_back({stream.model[row], stream.answer[row], stream.confidence[row]});
    }
    learning->tally(ballots, task.answers, tally);
    EXPECT_EQ(at_once.selections[number].answer, tally.winner);
    EXPECT_EQ(at_once.selections[number].share, tally.share);
    const std::span<const double> outcomes(&stream.outcome[task.first_row], task.rows);
    if (!std::all_of(outcomes.begin(), outcomes.end(), [](double o) { return std::isnan(o); }))
      learning->learn(ballots, task.answers, outcomes);
    fixed->tally(ballots, task.answers, tally);
    EXPECT_EQ(never.selections[number].share, tally.share);
  }
}

TEST(StreamTest, UnusableRowsAreCountedByModelAndReason) {
  LogWriter writer;
  writer.row({.task = "t", .model = "a", .confidence = dataset::kMissing, .correct = 1.0});
  writer.row({.task = "t", .model = "b", .confidence = 0.5, .correct = 1.0, .abstained = true});
  writer.row({.task = "t", .model = "c", .confidence = 0.5, .correct = 1.0});
  writer.row({.task = "u", .model = "a", .confidence = dataset::kMissing, .correct = 1.0});
  const Stream stream = writer.stream();
  EXPECT_EQ(stream.rows(), 1U);
  EXPECT_EQ(stream.task_count, 2U);
  EXPECT_EQ(stream.tasks.size(), 1U);
  EXPECT_EQ(stream.excluded[0].no_confidence, 2U);
  EXPECT_EQ(stream.excluded[1].abstained, 1U);
  EXPECT_EQ(stream.excluded_total().total(), 3U);
  const Stream strict = writer.stream({.exclude_without_answer = true});
  EXPECT_EQ(strict.rows(), 0U);
  EXPECT_EQ(strict.excluded[2].no_answer, 1U);
}

TEST(StreamTest, SelectionCountsTheRestAsNeverWritten) {
  LogWriter writer;
  writer.row({.task = "t", .phase = "1", .model = "a", .confidence = 0.1, .correct = 1.0});
  writer.row({.task = "u", .phase = "2", .model = "b", .confidence = 0.2, .correct = 1.0});
  writer.row({.task = "t", .phase = "2", .model = "a", .confidence = 0.3, .correct = 1.0});
  writer.row({.task = "u", .phase = "2", .model = "a", .confidence = 0.4, .correct = 1.0});
  const Stream second = writer.stream({.phases = {"2"}});
  EXPECT_EQ(second.models, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(second.confidence, (std::vector<double>{0.2, 0.4, 0.3}));
  const Stream only_a = writer.stream({.phases = {"2"}, .models = {"a"}});
  EXPECT_EQ(only_a.confidence, (std::vector<double>{0.3, 0.4}));
  EXPECT_FALSE(make_streams(writer.log(), {.phases = {"3"}}).ok());
  EXPECT_FALSE(make_streams(writer.log(), {.phases = {"1"}, .models = {"b"}}).ok());
}

TEST(StreamTest, ChannelsAreKeptApart) {
  LogWriter writer;
  writer.row({.task = "t", .model = "a", .confidence = 0.1, .correct = 1.0});
  writer.row({.task = "t", .model = "a", .channel = "consistency", .confidence = 0.2, .correct = 1.0});
  const auto streams = make_streams(writer.log());
  ASSERT_TRUE(streams.ok());
  ASSERT_EQ(streams->size(), 2U);
  EXPECT_EQ((*streams)[0].channel, "verbalized");
  EXPECT_EQ((*streams)[1].confidence, std::vector<double>{0.2});
}

TEST(StreamTest, AnswersAreEqualAsTheTasksKindSays) {
  LogWriter writer;
  writer.row({.task = "t", .model = "a", .kind = AnswerKind::kCode, .answer = "x = 1", .confidence = 0.5, .correct = 1.0});
  writer.row({.task = "t", .model = "b", .answer = "x=1", .confidence = 0.5, .correct = 1.0});
  writer.row({.task = "u", .model = "a", .answer = "x = 1", .confidence = 0.5, .correct = 1.0});
  writer.row({.task = "u", .model = "b", .answer = "x=1", .confidence = 0.5, .correct = 1.0});
  const Stream stream = writer.stream();
  EXPECT_EQ(stream.tasks[0].answers, 1U);
  EXPECT_EQ(stream.tasks[1].answers, 2U);
}

TEST(OrderingTest, ShufflesTasksWithinTheirPhase) {
  LogWriter writer;
  for (int t = 0; t < 40; ++t) {
    const std::string task = std::to_string(t);
    writer.row({.task = task, .phase = t % 10 < 5 ? "even" : "odd", .model = "a", .confidence = 0.5, .correct = 1.0});
  }
  const Stream stream = writer.stream();
  const auto order = shuffled_order(stream, 5, 0);
  EXPECT_NE(order, file_order(stream));
  EXPECT_EQ(order, shuffled_order(stream, 5, 0));
  EXPECT_NE(order, shuffled_order(stream, 5, 1));
  EXPECT_NE(order, shuffled_order(stream, 6, 0));
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(stream.tasks[order[i]].phase, stream.tasks[i].phase);
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, file_order(stream));
}

TEST(ScoreTest, UndefinedMetricsAreNull) {
  LogWriter writer;
  writer.row({.task = "t", .model = "a", .confidence = 0.5});
  const Stream stream = writer.stream();
  const Scores scores = score(stream, replay(stream, file_order(stream), *calibrator("raw"), *vote("sum")));
  for (const auto& value : scores) EXPECT_FALSE(value.has_value());
}

TEST(ScoreTest, UngradedRowsAreNotScored) {
  LogWriter writer;
  writer.row({.task = "t", .model = "a", .answer = "x", .confidence = 0.75, .correct = 1.0});
  writer.row({.task = "t", .model = "b", .answer = "y", .confidence = 0.9});
  const Stream stream = writer.stream();
  const Scores scores = score(stream, replay(stream, file_order(stream), *calibrator("raw"), *vote("sum")));
  EXPECT_EQ(scores[kEce], 0.25);
  EXPECT_EQ(scores[kBrier], 0.0625);
  EXPECT_FALSE(scores[kPass1].has_value());  // the selected answer was never graded
}

TEST(ScoreTest, SummaryIsMeanAndSampleDeviation) {
  std::vector<Scores> passes(3);
  passes[0][kEce] = 0.25;
  passes[1][kEce] = 0.5;
  passes[2][kEce] = 0.75;
  passes[1][kPass1] = 0.5;
  const ScoreSummary summary = summarize(passes);
  EXPECT_EQ(summary.mean[kEce], 0.5);
  EXPECT_EQ(summary.sd[kEce], 0.25);
  EXPECT_EQ(summary.mean[kPass1], 0.5);
  EXPECT_FALSE(summary.sd[kPass1].has_value());
  EXPECT_FALSE(summary.mean[kBrier].has_value());
}

std::vector<Entrant> entrants(std::initializer_list<const char*> identifiers) {
  std::vector<Entrant> all;
  for (const char* identifier : identifiers) all.push_back({identifier, calibrator(identifier)});
  return all;
}

TEST(EvaluationTest, FittedMethodsStayAsTheyWereFitted) {
  LogWriter writer;
  for (int t = 0; t < 20; ++t)
    writer.row({.task = "f" + std::to_string(t), .phase = "fit", .model = "a", .confidence = 0.95, .correct = t < 5 ? 1.0 : 0.0});
  writer.row({.task = "t", .phase = "new", .model = "a", .confidence = 0.95, .correct = 1.0});
  const Stream source = writer.stream({.phases = {"fit"}});
  const Stream target = writer.stream({.phases = {"new"}});
  std::vector<Entrant> methods = entrants({"histogram_binning", "histogram_binning"});
  ASSERT_TRUE(methods[0].method->fit(calibration_rows(source, target)).ok());
  const auto evaluation = evaluate(target, {}, methods, *vote("sum"), {.passes = {.orderings = 0}, .keep_first = true});
  ASSERT_TRUE(evaluation.has_value());
  EXPECT_EQ(evaluation->methods[0].first->calibrated, std::vector<double>{0.25});
  EXPECT_EQ(evaluation->methods[1].first->calibrated, std::vector<double>{0.95});
}

// A part's scores are those of a stream that has only its rows, given the same predictions.
TEST(EvaluationTest, APartIsScoredAsIfItWereAll) {
  LogWriter writer;
  Random random(3);
  for (int t = 0; t < 60; ++t) {
    for (const char* model : {"a", "b", "c"}) {
      writer.row({.task = "t" + std::to_string(t),
                  .phase = t % 3 == 0 ? "p" : "q",
                  .model = model,
                  .answer = random.chance(0.5) ? "x" : "y",
                  .confidence = random.uniform(),
                  .correct = random.chance(0.1)   ? dataset::kMissing
                             : random.chance(0.6) ? 1.0
                                                  : 0.0});
    }
  }
  const Stream whole = writer.stream({});
  const auto evaluation =
      evaluate(whole, {by_model(whole), by_phase(whole, writer.log())}, entrants({"raw"}), *vote("sum"), {.passes = {.orderings = 0}});
  ASSERT_TRUE(evaluation.has_value());
  const auto alone = [&](const RowSelection& selection) {
    const Stream stream = writer.stream(selection);
    return score(stream, replay(stream, file_order(stream), *calibrator("raw"), *vote("sum")));
  };
  const MethodEvaluation& raw = evaluation->methods.front();
  ASSERT_EQ(raw.parts.size(), 2U);
  ASSERT_EQ(raw.parts[0].size(), 3U);
  for (const Metric metric : {kEce, kBrier, kLogLoss}) EXPECT_EQ(raw.parts[0][1].mean[metric], alone({.models = {"b"}})[metric]);
  EXPECT_FALSE(raw.parts[0][1].mean[kPass1].has_value());
  ASSERT_EQ(raw.parts[1].size(), 2U);
  EXPECT_EQ(raw.parts[1][0].mean, alone({.phases = {"p"}}));
  EXPECT_EQ(raw.parts[1][1].mean, alone({.phases = {"q"}}));
  EXPECT_EQ(raw.scores.mean, alone({}));
}

TEST(EvaluationTest, TheNumberOfThreadsChangesNoBit) {
  const LogWriter writer = random_log(11, 80);
  const auto evaluation = [&](unsigned threads) {
    const Stream stream = writer.stream({});
    return evaluate(stream, {by_model(stream)}, entrants({"margin", "margin_adaptive"}), *vote("stacked"),
                    {.passes = {.orderings = 9, .threads = {threads}}, .keep_first = true});
  };
  const auto one = evaluation(1);
  const auto four = evaluation(4);
  for (std::size_t m = 0; m < 2; ++m) {
    EXPECT_EQ(one->methods[m].by_ordering, four->methods[m].by_ordering);
    EXPECT_EQ(one->methods[m].first->calibrated, four->methods[m].first->calibrated);
    EXPECT_EQ(one->methods[m].first->end->digest(), four->methods[m].first->end->digest());
    EXPECT_EQ(one->methods[m].parts[0][0].mean, four->methods[m].parts[0][0].mean);
  }
  EXPECT_NE(one->methods[0].by_ordering[0], one->methods[0].by_ordering[1]);
}

}  // namespace
}  // namespace margin::experiment
