// Every line of every golden file through its calibrator: calibrated confidences row by row, and the metrics made of them by the
// plain formulas. The expected numbers come from an independent implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <ostream>

#include "golden_data.h"

namespace margin::golden {
namespace {

struct Case {
  std::string stream;
  std::size_t line = 0;
  Expected expected;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.stream << " line " << c.line + 1 << ": " << c.expected.method; }

std::vector<Case> cases_of(const std::string& stream) {
  std::vector<Case> cases;
  for (Expected& expected : read_expected(stream)) cases.push_back({stream, cases.size(), std::move(expected)});
  return cases;
}

std::vector<Case> prequential_cases() {
  std::vector<Case> all;
  for (const char* stream : {"edges", "shift", "zeros"}) {
    for (Case& c : cases_of(stream)) all.push_back(std::move(c));
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string method = info.param.expected.method;
  std::replace(method.begin(), method.end(), '@', '_');
  return info.param.stream + "_" + std::to_string(info.param.line + 1) + "_" + method;
}

// 1e-12 where only + - * / occur, 1e-9 where exp, log or powers do, 1e-6 for fitted curves.
double tolerance_of(const std::string& method) {
  if (method == "temperature_scaling" || method == "platt_scaling") return 1e-6;
  if (method == "online_platt" || method.starts_with("margin_adaptive")) return 1e-9;
  return 1e-12;
}

// Rows that are calibrated, in file order, and what became of them.
struct Replay {
  std::vector<double> calibrated;
  std::vector<std::optional<double>> outcomes;
};

Observation observation_of(const Row& row) {
  return {.model = row.id, .confidence = row.confidence.value(), .outcome = row.outcome.value_or(0.0)};
}

// Learns the rows that have an outcome; each run of rows of one task is one task to the calibrator.
class Learner {
 public:
  Learner(Calibrator& calibrator, const Stream& stream) : calibrator_(calibrator), stream_(stream) {}

  void add(std::size_t task, std::size_t row, std::size_t number) { waiting_.push_back({task, row, number}); }

  // All waiting rows with a number below `end`.
  void learn_before(std::size_t end) {
    while (!waiting_.empty() && waiting_.front().number < end) {
      const std::size_t task = waiting_.front().task;
      calibrator_.begin_task();
      for (; !waiting_.empty() && waiting_.front().task == task && waiting_.front().number < end; waiting_.pop_front()) {
        const Row& row = stream_.rows[waiting_.front().row];
        if (!row.outcome) continue;
        ASSERT_TRUE(calibrator_.observe(observation_of(row)));
      }
      calibrator_.end_task();
    }
  }

 private:
  struct Waiting {
    std::size_t task;
    std::size_t row;
    std::size_t number;  // among the usable rows, in replay order
  };
  Calibrator& calibrator_;
  const Stream& stream_;
  std::deque<Waiting> waiting_;
};

// One prequential pass: a task's rows are calibrated with the state before the task; row r is learned before the task whose first
// usable row is s once r < s - lag.
Replay replay(const Stream& stream, Calibrator& calibrator, std::size_t lag) {
  std::vector<double> by_row(stream.rows.size(), std::nan(""));
  Learner learner(calibrator, stream);
  std::size_t number = 0;
  for (std::size_t task = 0; task < stream.tasks.size(); ++task) {
    learner.learn_before(number > lag ? number - lag : 0);
    std::vector<std::size_t> usable = stream.tasks[task];
    std::erase_if(usable, [&](std::size_t row) { return !stream.rows[row].usable(); });
    for (const std::size_t row : usable) calibrator.join(stream.rows[row].id);
    for (const std::size_t row : usable) by_row[row] = calibrator.calibrate(stream.rows[row].id, *stream.rows[row].confidence);
    for (const std::size_t row : usable) learner.add(task, row, number++);
  }
  Replay result;
  for (std::size_t row = 0; row < stream.rows.size(); ++row) {
    if (!stream.rows[row].usable()) continue;
    result.calibrated.push_back(by_row[row]);
    result.outcomes.push_back(stream.rows[row].outcome);
  }
  return result;
}

struct Scores {
  double ece = 0.0;
  double brier = 0.0;
  double log_loss = 0.0;
};

Scores score(const Replay& replay) {
  Scores scores;
  double gap[10] = {};
  double n = 0.0;
  for (std::size_t i = 0; i < replay.calibrated.size(); ++i) {
    if (!replay.outcomes[i]) continue;
    const double p = replay.calibrated[i];
    const double o = *replay.outcomes[i];
    const double clipped = std::clamp(p, 1e-6, 1.0 - 1e-6);
    gap[std::min(9, static_cast<int>(p * 10.0))] += o - p;
    scores.brier += (p - o) * (p - o);
    scores.log_loss -= o * std::log(clipped) + (1.0 - o) * std::log(1.0 - clipped);
    n += 1.0;
  }
  for (const double bin : gap) scores.ece += std::fabs(bin) / n;
  scores.brier /= n;
  scores.log_loss /= n;
  return scores;
}

void expect_golden(const Case& c, const Replay& replay) {
  const double tolerance = tolerance_of(c.expected.method);
  ASSERT_EQ(replay.calibrated.size(), c.expected.calibrated.size());
  for (std::size_t i = 0; i < replay.calibrated.size(); ++i) {
    ASSERT_NEAR(replay.calibrated[i], c.expected.calibrated[i], tolerance) << "usable row " << i;
  }
  const Scores scores = score(replay);
  EXPECT_NEAR(scores.ece, c.expected.ece, tolerance);
  EXPECT_NEAR(scores.brier, c.expected.brier, tolerance);
  // The slope of the logarithm magnifies a difference near 0 and 1.
  EXPECT_NEAR(scores.log_loss, c.expected.log_loss, 100.0 * tolerance);
}

class PrequentialGolden : public testing::TestWithParam<Case> {};

TEST_P(PrequentialGolden, CalibratesEveryRowAsExpected) {
  const Case& c = GetParam();
  auto calibrator = make_calibrator(c.expected.method, c.expected.parameters);
  ASSERT_TRUE(calibrator.ok()) << calibrator.error().message;
  expect_golden(c, replay(read_stream(c.stream), **calibrator, c.expected.lag));
}

INSTANTIATE_TEST_SUITE_P(Streams, PrequentialGolden, testing::ValuesIn(prequential_cases()), name_of);

class FrozenGolden : public testing::TestWithParam<Case> {};

TEST_P(FrozenGolden, FittedOnTheEasyPhaseCalibratesTheHardOneAsExpected) {
  const Case& c = GetParam();
  const Stream stream = read_stream("shift");
  auto calibrator = make_calibrator(c.expected.method);
  ASSERT_TRUE(calibrator.ok()) << calibrator.error().message;
  std::vector<Observation> calibration_rows;
  for (const Row& row : stream.rows) {
    if (row.phase == "easy") calibration_rows.push_back(observation_of(row));
  }
  ASSERT_TRUE((*calibrator)->fit(calibration_rows));
  Replay result;
  for (const Row& row : stream.rows) {
    if (row.phase != "hard") continue;
    (*calibrator)->join(row.id);
    result.calibrated.push_back((*calibrator)->calibrate(row.id, *row.confidence));
    result.outcomes.push_back(row.outcome);
  }
  expect_golden(c, result);
}

INSTANTIATE_TEST_SUITE_P(Shift, FrozenGolden, testing::ValuesIn(cases_of("frozen")), name_of);

}  // namespace
}  // namespace margin::golden
