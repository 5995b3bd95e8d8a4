#include "experiment/selection.h"

#include <map>

#include "experiment/graded.h"

namespace margin::experiment {
namespace {

using Outcomes = std::vector<std::optional<double>>;

// One that does not depend on the pass.
Contender fixed(std::string label, const Outcomes& outcomes, const Resampling& resampling) {
  const TaskMean mean = mean_over_tasks(outcomes);
  return {.label = std::move(label), .pass1 = {mean.value, resampling.of(outcomes)}, .sd = {}, .tasks = mean.tasks};
}

}  // namespace

std::size_t selection_work(std::size_t entrants, const PassesOptions& options) {
  constexpr std::size_t kFixed = 4;
  return pieces_of({.passes = entrants, .statistics = entrants + kFixed}, options);
}

std::optional<SelectionResult> run_selection(std::string name, const Stream& stream, std::span<const Entrant> entrants, const Vote& vote,
                                             std::optional<ModelId> committed, const PassesOptions& options, Progress* progress) {
  const GradedStream graded(stream);
  const Resampling resampling(graded.size(), options, progress);
  SelectionResult result{.name = std::move(name), .tasks = graded.size(), .rows = stream.rows(), .models = stream.models.size()};
  for (const Entrant& entrant : entrants) {
    std::vector<TaskRows> rows(options.passes(), TaskRows(0, 1));
    std::vector<TaskMean> means(options.passes());
    const bool finished = for_each_pass(stream, *entrant.method, vote, options, progress, [&](std::size_t number, const Pass& pass) {
      const Outcomes outcomes = selected_outcomes(graded, pass);
      means[number] = mean_over_tasks(outcomes);
      rows[number] = mean_rows(outcomes);
    });
    if (!finished) return std::nullopt;
    Outcomes values;
    for (const TaskMean& mean : means) values.push_back(mean.value);
    const Spread spread = spread_of(values);
    result.votes.push_back({entrant.label, {spread.mean, resampling.of(rows)}, spread.sd, means.front().tasks});
  }
  result.random = fixed("random model", by_task(graded, random_outcome), resampling);
  result.oracle = fixed("oracle", by_task(graded, oracle_outcome), resampling);
  const auto single_model = [&](ModelId model) {
    return fixed(stream.models[model], by_task(graded, [&](GradedTask task) { return model_outcome(task, model); }), resampling);
  };
  if (const auto best = margin::best_single(graded.tasks(), stream.models)) result.best_single = single_model(best->model);
  if (committed) result.committed = single_model(*committed);
  if (progress != nullptr && progress->stop) return std::nullopt;
  return result;
}

std::optional<ModelId> best_single_elsewhere(const Stream& source, const Stream& target) {
  std::map<std::string_view, ModelId> ids;
  for (ModelId model = 0; model < target.models.size(); ++model) ids.emplace(target.models[model], model);
  const GradedStream graded(source);
  std::vector<std::vector<GradedResponse>> kept;
  for (std::size_t task = 0; task < graded.size(); ++task) {
    std::vector<GradedResponse>& responses = kept.emplace_back();
    for (GradedResponse response : graded.task(task)) {
      const auto found = ids.find(source.models[response.model]);
      if (found == ids.end()) continue;
      response.model = found->second;
      responses.push_back(response);
    }
  }
  const auto best = margin::best_single(std::vector<GradedTask>(kept.begin(), kept.end()), target.models);
  return best ? std::optional(best->model) : std::nullopt;
}

}  // namespace margin::experiment
