#include "experiment/score.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <vector>

#include "margin/exact_sum.h"
#include "margin/metric.h"

namespace margin::experiment {

namespace {

template <class Rows, class Tasks>
Scores score_over(const Stream& stream, const Pass& pass, const ResolutionRules& rules, const Rows& rows, const Tasks& task_numbers) {
  std::vector<double> probabilities;
  std::vector<double> outcomes;
  std::vector<ModelId> models;
  for (const std::uint32_t row : rows) {
    if (std::isnan(stream.outcome[row])) continue;
    probabilities.push_back(pass.calibrated[row]);
    outcomes.push_back(stream.outcome[row]);
    models.push_back(stream.model[row]);
  }
  std::vector<GradedResponse> responses;
  responses.reserve(stream.rows());  // spans into it stay valid
  std::vector<GradedTask> tasks;
  std::vector<std::uint32_t> selected;
  for (const std::uint32_t number : task_numbers) {
    const Stream::Task& task = stream.tasks[number];
    for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      const bool graded = !std::isnan(stream.outcome[row]);
      responses.push_back({.model = stream.model[row],
                           .answer = stream.answer[row],
                           .stated = stream.confidence[row],
                           .calibrated = pass.calibrated[row],
                           .outcome = graded ? std::optional(stream.outcome[row]) : std::nullopt});
    }
    tasks.push_back(std::span(responses).last(task.rows));
    selected.push_back(pass.selections[number].answer);
  }

  const Predictions predictions{probabilities, outcomes};
  Scores scores;
  scores[kEce] = ece(predictions);
  scores[kEcePerModel] = ece_per_model(predictions, models);
  scores[kBrier] = brier(predictions);
  scores[kLogLoss] = log_loss(predictions);
  scores[kPass1] = pass_at_1(tasks, selected).value;
  scores[kResolution] = resolution(tasks, rules).value();
  return scores;
}

auto all_below(std::size_t end) { return std::views::iota(std::uint32_t{0}, static_cast<std::uint32_t>(end)); }

}  // namespace

Scores score(const Stream& stream, const Pass& pass, const ResolutionRules& rules) {
  return score_over(stream, pass, rules, all_below(stream.rows()), all_below(stream.tasks.size()));
}

Scores score(const Stream& stream, const Pass& pass, const ResolutionRules& rules, const Part& part) {
  return score_over(stream, pass, rules, part.rows, part.tasks);
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
