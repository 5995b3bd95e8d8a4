#include "experiment/evaluation.h"

#include <cmath>

#include "experiment/graded.h"
#include "margin/exact_sum.h"

namespace margin::experiment {
namespace {

// The scores of every pass, of one part.
struct PartScores {
  const Part* part = nullptr;
  std::vector<Scores> by_ordering;
};

}  // namespace

Breakdown by_model(const Stream& stream) {
  Breakdown breakdown{.by = "model", .parts = {}};
  for (const std::string& name : stream.models) breakdown.parts.push_back({.name = name, .rows = {}, .tasks = {}});
  for (std::uint32_t row = 0; row < stream.rows(); ++row) breakdown.parts[stream.model[row]].rows.push_back(row);
  return breakdown;
}

Breakdown by_phase(const Stream& stream, const dataset::ObservationLog& log) {
  Breakdown breakdown{.by = "phase", .parts = {}};
  std::vector<std::size_t> part_of(log.phases().size(), log.phases().size());
  for (std::uint32_t number = 0; number < stream.tasks.size(); ++number) {
    const Stream::Task& task = stream.tasks[number];
    std::size_t& part = part_of[task.phase];
    if (part == part_of.size()) {
      part = breakdown.parts.size();
      breakdown.parts.push_back({.name = log.phases()[task.phase], .rows = {}, .tasks = {}});
    }
    breakdown.parts[part].tasks.push_back(number);
    for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) breakdown.parts[part].rows.push_back(row);
  }
  return breakdown;
}

std::optional<double> accuracy_of(const Stream& stream, const Part& part) {
  ExactSum sum;
  double graded = 0.0;
  for (const std::uint32_t row : part.rows) {
    if (std::isnan(stream.outcome[row])) continue;
    sum.add(stream.outcome[row]);
    graded += 1.0;
  }
  return graded > 0.0 ? std::optional(sum.value() / graded) : std::nullopt;
}

std::span<const Metric> metrics_of(const Part& part) {
  static constexpr Metric kOfRows[] = {kEce, kBrier, kLogLoss};
  static constexpr Metric kOfTasks[] = {kEce, kEcePerModel, kBrier, kLogLoss, kPass1, kResolution};
  return part.tasks.empty() ? std::span<const Metric>(kOfRows) : kOfTasks;
}

std::optional<Evaluation> evaluate(Stream stream, std::vector<Breakdown> breakdowns, std::span<const Entrant> entrants, const Vote& vote,
                                   const EvaluationOptions& options, Progress* progress) {
  Evaluation evaluation{std::move(stream), std::move(breakdowns), {}};
  const std::size_t passes = options.passes.passes();
  std::vector<std::vector<PartScores>> parts(entrants.size());
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    evaluation.methods.push_back({.label = entrants[i].label, .by_ordering = std::vector<Scores>(passes)});
    for (const Breakdown& breakdown : evaluation.breakdowns) {
      for (const Part& part : breakdown.parts) parts[i].push_back({&part, std::vector<Scores>(passes)});
    }
  }
  std::vector<std::vector<DecisionScores>> decisions(entrants.size(), std::vector<DecisionScores>(options.max_error ? passes : 0));
  std::optional<GradedStream> graded;
  if (options.max_error || options.keep_first) graded.emplace(evaluation.stream);
  const bool finished = parallel_for(entrants.size() * passes, options.passes.threads, progress, [&](std::size_t piece) {
    const std::size_t i = entrants.size() - 1 - piece / passes;  // methods that take longest are mostly named last, and begun first
    const std::size_t number = piece % passes;
    const std::vector<std::uint32_t> order = order_of_pass(evaluation.stream, options.passes, number);
    const PassOptions of_pass = options_of_pass(options.passes, number);
    Pass pass = replay(evaluation.stream, order, *entrants[i].method, vote, of_pass);
    evaluation.methods[i].by_ordering[number] = score(evaluation.stream, pass, options.resolution);
    for (PartScores& part : parts[i]) part.by_ordering[number] = score(evaluation.stream, pass, options.resolution, *part.part);
    const bool keep = number == 0 && options.keep_first;
    if (options.max_error || keep) {
      const std::vector<std::optional<double>> outcomes = selected_outcomes(*graded, pass);
      const std::vector<double> by_place =
          decision_probabilities(evaluation.stream, order, decisions_of(evaluation.stream, order, pass, of_pass, outcomes), of_pass.lag);
      std::vector<std::optional<double>> sure(evaluation.stream.tasks.size());
      for (std::size_t place = 0; place < order.size(); ++place) {
        if (pass.selections[order[place]].answer != kNoAnswer) sure[order[place]] = by_place[place];
      }
      if (options.max_error) decisions[i][number] = score_decisions(sure, outcomes, *options.max_error);
      if (keep) evaluation.methods[i].first_sure = std::move(sure);
    }
    if (keep) evaluation.methods[i].first = std::move(pass);
  });
  if (!finished) return std::nullopt;
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    MethodEvaluation& method = evaluation.methods[i];
    method.scores = summarize(method.by_ordering);
    if (options.max_error) method.decision = mean_of(decisions[i]);
    auto part = parts[i].begin();
    for (const Breakdown& breakdown : evaluation.breakdowns) {
      method.parts.emplace_back();
      for (std::size_t p = 0; p < breakdown.parts.size(); ++p) method.parts.back().push_back(summarize((part++)->by_ordering));
    }
  }
  return evaluation;
}

}  // namespace margin::experiment
