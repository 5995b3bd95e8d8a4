#include "experiment/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "margin/exact_sum.h"
#include "margin/metric.h"

namespace margin::experiment {

namespace {

Scores score_graded_rows(const Stream& stream, const Pass& pass, std::span<const std::uint32_t> rows) {
  std::vector<double> probabilities;
  std::vector<double> outcomes;
  std::vector<ModelId> models;
  for (const std::uint32_t row : rows) {
    if (std::isnan(stream.outcome[row])) continue;
    probabilities.push_back(pass.calibrated[row]);
    outcomes.push_back(stream.outcome[row]);
    models.push_back(stream.model[row]);
  }
  return score_rows({probabilities, outcomes}, models);
}

// Task by task, so that its responses stay in the cache and a long stream costs no memory.
void score_tasks(const Stream& stream, const Pass& pass, const ResolutionRules& rules, std::span<const std::uint32_t> task_numbers,
                 Scores& scores) {
  std::vector<GradedResponse> responses;
  std::vector<std::optional<double>> selected;
  Resolution contests;
  for (const std::uint32_t number : task_numbers) {
    const Stream::Task& task = stream.tasks[number];
    responses.clear();
    for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      const double outcome = stream.outcome[row];
      responses.push_back({.model = stream.model[row],
                           .answer = stream.answer[row],
                           .stated = stream.confidence[row],
                           .calibrated = pass.calibrated[row],
                           .outcome = std::isnan(outcome) ? std::nullopt : std::optional(outcome)});
    }
    selected.push_back(answer_outcome(responses, pass.selections[number].answer));
    contests += resolution(responses, rules);
  }
  scores[kPass1] = mean_over_tasks(selected).value;
  scores[kResolution] = contests.value();
}

std::vector<std::uint32_t> all_below(std::size_t end) {
  std::vector<std::uint32_t> numbers(end);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

}  // namespace

Scores score_rows(Predictions rows, std::span<const ModelId> models) {
  Scores scores;
  scores[kEce] = ece(rows);
  scores[kEcePerModel] = ece_per_model(rows, models);
  scores[kBrier] = brier(rows);
  scores[kLogLoss] = log_loss(rows);
  return scores;
}

Scores score(const Stream& stream, const Pass& pass, const ResolutionRules& rules) {
  const bool all_graded = std::ranges::none_of(stream.outcome, [](double outcome) { return std::isnan(outcome); });
  Scores scores = all_graded ? score_rows({pass.calibrated, stream.outcome}, stream.model)  // as they stand, without copies
                             : score_graded_rows(stream, pass, all_below(stream.rows()));
  score_tasks(stream, pass, rules, all_below(stream.tasks.size()), scores);
  return scores;
}

Scores score(const Stream& stream, const Pass& pass, const ResolutionRules& rules, const Part& part) {
  Scores scores = score_graded_rows(stream, pass, part.rows);
  score_tasks(stream, pass, rules, part.tasks, scores);
  return scores;
}

Spread spread_of(std::span<const std::optional<double>> values) {
  Spread spread;
  ExactSum sum;
  double count = 0.0;
  for (const std::optional<double>& value : values) {
    if (!value) continue;
    sum.add(*value);
    count += 1.0;
    spread.low = std::min(spread.low.value_or(*value), *value);
    spread.high = std::max(spread.high.value_or(*value), *value);
  }
  if (count == 0.0) return spread;
  spread.mean = sum.value() / count;
  if (count < 2.0) return spread;
  ExactSum squares;
  for (const std::optional<double>& value : values) {
    if (value) squares.add((*value - *spread.mean) * (*value - *spread.mean));
  }
  spread.sd = std::sqrt(squares.value() / (count - 1.0));
  return spread;
}

ScoreSummary summarize(std::span<const Scores> passes) {
  ScoreSummary summary;
  std::vector<std::optional<double>> values(passes.size());
  for (std::size_t metric = 0; metric < kMetrics; ++metric) {
    for (std::size_t i = 0; i < passes.size(); ++i) values[i] = passes[i][metric];
    const Spread one = spread_of(values);
    summary.mean[metric] = one.mean;
    summary.sd[metric] = one.sd;
  }
  return summary;
}

}  // namespace margin::experiment
