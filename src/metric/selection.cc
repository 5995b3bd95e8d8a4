// How good is what was selected: pass@1, oracle, random, best single, gap closed.
#include <algorithm>
#include <vector>

#include "base/check.h"
#include "margin/exact_sum.h"
#include "margin/selection_metric.h"

namespace margin {
namespace {

void raise(std::optional<double>& best, double outcome) { best = std::max(best.value_or(outcome), outcome); }

template <class Outcome>
TaskMean mean_of(std::span<const GradedTask> tasks, Outcome outcome) {
  std::vector<std::optional<double>> outcomes;
  outcomes.reserve(tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) outcomes.push_back(outcome(t));
  return mean_over_tasks(outcomes);
}

}  // namespace

std::optional<double> answer_outcome(GradedTask task, std::uint32_t answer) {
  std::optional<double> best;
  if (answer == kNoAnswer) return best;
  for (const GradedResponse& response : task) {
    if (response.scored() && response.answer == answer) raise(best, *response.outcome);
  }
  return best;
}

std::optional<double> oracle_outcome(GradedTask task) {
  std::optional<double> best;
  for (const GradedResponse& response : task) {
    if (response.scored()) raise(best, *response.outcome);
  }
  return best;
}

std::optional<double> random_outcome(GradedTask task) {
  ExactSum sum;
  double count = 0.0;
  for (const GradedResponse& response : task) {
    if (!response.scored()) continue;
    sum.add(*response.outcome);
    count += 1.0;
  }
  if (count == 0.0) return std::nullopt;
  return sum.value() / count;
}

std::optional<double> model_outcome(GradedTask task, ModelId model) {
  for (const GradedResponse& response : task) {
    if (response.model == model && response.scored()) return response.outcome;
  }
  return std::nullopt;
}

TaskMean mean_over_tasks(std::span<const std::optional<double>> outcomes) {
  ExactSum sum;
  TaskMean mean;
  for (const std::optional<double>& outcome : outcomes) {
    if (!outcome) continue;
    sum.add(*outcome);
    ++mean.tasks;
  }
  if (mean.tasks > 0) mean.value = sum.value() / static_cast<double>(mean.tasks);
  return mean;
}

TaskMean pass_at_1(std::span<const GradedTask> tasks, std::span<const std::uint32_t> selected) {
  MARGIN_CHECK(tasks.size() == selected.size(), "every task has a selection, if only kNoAnswer");
  return mean_of(tasks, [&](std::size_t t) { return answer_outcome(tasks[t], selected[t]); });
}

TaskMean oracle(std::span<const GradedTask> tasks) {
  return mean_of(tasks, [&](std::size_t t) { return oracle_outcome(tasks[t]); });
}

TaskMean random_pick(std::span<const GradedTask> tasks) {
  return mean_of(tasks, [&](std::size_t t) { return random_outcome(tasks[t]); });
}

TaskMean single(std::span<const GradedTask> tasks, ModelId model) {
  return mean_of(tasks, [&](std::size_t t) { return model_outcome(tasks[t], model); });
}

std::optional<BestSingle> best_single(std::span<const GradedTask> tasks, std::span<const std::string> names) {
  std::vector<char> occurs(names.size());
  for (const GradedTask task : tasks) {
    for (const GradedResponse& response : task) {
      MARGIN_CHECK(response.model < names.size(), "every model has a name");
      if (response.scored()) occurs[response.model] = 1;
    }
  }
  std::vector<ModelId> models;
  for (std::size_t m = 0; m < names.size(); ++m) {
    if (occurs[m] != 0) models.push_back(static_cast<ModelId>(m));
  }
  std::vector<GradedTask> common;
  for (const GradedTask task : tasks) {
    const bool complete = std::all_of(models.begin(), models.end(), [&](ModelId m) { return model_outcome(task, m).has_value(); });
    if (complete) common.push_back(task);
  }
  std::optional<BestSingle> best;
  for (const ModelId model : models) {
    const TaskMean mean = single(common, model);
    if (!mean.value) return std::nullopt;
    const bool better = !best || *mean.value > best->outcome || (*mean.value == best->outcome && names[model] < names[best->model]);
    if (better) best = BestSingle{.model = model, .outcome = *mean.value, .common_tasks = mean.tasks};
  }
  return best;
}

std::optional<double> GapClosed::value() const {
  if (oracle == base) return std::nullopt;
  return (ours - base) / (oracle - base);
}

}  // namespace margin
