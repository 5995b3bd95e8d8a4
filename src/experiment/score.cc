#include "experiment/score.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "margin/exact_sum.h"
#include "margin/metric.h"

namespace margin::experiment {

Scores score(const Stream& stream, const Pass& pass, const ResolutionRules& rules) {
  std::vector<double> probabilities;
  std::vector<double> outcomes;
  std::vector<ModelId> models;
  std::vector<GradedResponse> responses(stream.rows());
  for (std::size_t row = 0; row < stream.rows(); ++row) {
    const bool graded = !std::isnan(stream.outcome[row]);
    responses[row] = {.model = stream.model[row],
                      .answer = stream.answer[row],
                      .stated = stream.confidence[row],
                      .calibrated = pass.calibrated[row],
                      .outcome = graded ? std::optional(stream.outcome[row]) : std::nullopt};
    if (!graded) continue;
    probabilities.push_back(pass.calibrated[row]);
    outcomes.push_back(stream.outcome[row]);
    models.push_back(stream.model[row]);
  }
  std::vector<GradedTask> tasks;
  std::vector<std::uint32_t> selected;
  for (std::size_t task = 0; task < stream.tasks.size(); ++task) {
    tasks.push_back(std::span(responses).subspan(stream.tasks[task].first_row, stream.tasks[task].rows));
    selected.push_back(pass.selections[task].answer);
  }

  const Predictions rows{probabilities, outcomes};
  Scores scores;
  scores[kEce] = ece(rows);
  scores[kEcePerModel] = ece_per_model(rows, models);
  scores[kBrier] = brier(rows);
  scores[kLogLoss] = log_loss(rows);
  scores[kPass1] = pass_at_1(tasks, selected).value;
  scores[kResolution] = resolution(tasks, rules).value();
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
