// The metrics against the golden vectors: scores of every prediction, pass@1 of every selection, resolution under each tie rule.
#include <gtest/gtest.h>

#include <map>

#include "golden_data.h"
#include "margin/metric.h"
#include "margin/selection_metric.h"

namespace margin {
namespace {

constexpr double kTolerance = 1e-12;

class GoldenMetrics : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Streams, GoldenMetrics, testing::Values("edges", "shift", "zeros"),
                         [](const auto& stream) { return stream.param; });

// A golden stream as graded tasks, with the calibrated confidences of one method.
struct Graded {
  std::vector<std::vector<GradedResponse>> responses;
  std::vector<std::map<std::string, std::uint32_t>> answers;  // per task: group by text

  [[nodiscard]] std::vector<GradedTask> tasks() const { return {responses.begin(), responses.end()}; }
};

Graded grade(const golden::Stream& stream, const std::vector<double>& calibrated) {
  std::vector<double> by_row(stream.rows.size());
  std::size_t usable = 0;
  for (std::size_t r = 0; r < stream.rows.size(); ++r) {
    if (stream.rows[r].usable()) by_row[r] = calibrated.at(usable++);
  }
  Graded graded;
  for (const std::vector<std::size_t>& task : stream.tasks) {
    auto& responses = graded.responses.emplace_back();
    auto& answers = graded.answers.emplace_back();
    for (const std::size_t r : task) {
      const golden::Row& row = stream.rows[r];
      const std::uint32_t answer = answers.try_emplace(row.answer, static_cast<std::uint32_t>(answers.size())).first->second;
      responses.push_back({.model = row.id, .answer = answer, .stated = row.confidence, .calibrated = by_row[r], .outcome = row.outcome});
    }
  }
  return graded;
}

// The golden predictions of a method with its default parameters.
std::vector<double> calibrated_by(const std::string& stream, const std::string& method) {
  for (const golden::Expected& line : golden::read_expected(stream)) {
    if (line.method == method && line.parameters.empty() && line.lag == 0) return line.calibrated;
  }
  ADD_FAILURE() << "no golden predictions of " << method;
  return {};
}

TEST_P(GoldenMetrics, ScoresOfEveryPrediction) {
  const golden::Stream stream = golden::read_stream(GetParam());
  const std::vector<golden::Expected> lines = golden::read_expected(GetParam());
  ASSERT_GE(lines.size(), 20U);
  for (const golden::Expected& line : lines) {
    std::vector<double> outcomes;
    for (const golden::Row& row : stream.rows) {
      if (row.usable()) outcomes.push_back(row.outcome.value());
    }
    const Predictions rows{line.calibrated, outcomes};
    EXPECT_NEAR(ece(rows).value(), line.ece, kTolerance) << line.method;
    EXPECT_NEAR(brier(rows).value(), line.brier, kTolerance) << line.method;
    EXPECT_NEAR(log_loss(rows).value(), line.log_loss, kTolerance) << line.method;
  }
}

TEST_P(GoldenMetrics, PassAt1OfEverySelection) {
  const golden::Stream stream = golden::read_stream(GetParam());
  const Graded graded = grade(stream, calibrated_by(GetParam(), "raw"));
  const std::vector<golden::Selection> lines = golden::read_selections(GetParam());
  ASSERT_EQ(lines.size(), 18U);
  for (const golden::Selection& line : lines) {
    ASSERT_EQ(line.selected.size(), graded.answers.size());
    std::vector<std::uint32_t> selected;
    for (std::size_t t = 0; t < line.selected.size(); ++t) selected.push_back(graded.answers[t].at(line.selected[t]));
    const TaskMean mean = pass_at_1(graded.tasks(), selected);
    EXPECT_NEAR(mean.value.value(), line.pass1, kTolerance) << line.method << " " << line.vote;
    EXPECT_EQ(mean.tasks, selected.size());
  }
}

TEST_P(GoldenMetrics, ResolutionUnderEachTieRule) {
  const golden::Stream stream = golden::read_stream(GetParam());
  const std::vector<golden::ExpectedResolution> lines = golden::read_resolutions(GetParam());
  ASSERT_EQ(lines.size(), 3U);
  for (const golden::ExpectedResolution& line : lines) {
    const Graded graded = grade(stream, calibrated_by(GetParam(), line.method));
    const auto value = [&](TieRule tie) { return resolution(graded.tasks(), {.tie = tie}).value().value(); };
    EXPECT_NEAR(value(TieRule::kHalf), line.half, kTolerance) << line.method;
    EXPECT_NEAR(value(TieRule::kStrict), line.strict, kTolerance) << line.method;
    EXPECT_NEAR(value(TieRule::kRaw), line.raw, kTolerance) << line.method;
  }
}

}  // namespace
}  // namespace margin
