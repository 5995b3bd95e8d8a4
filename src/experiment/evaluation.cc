#include "experiment/evaluation.h"

#include <cmath>

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
  for (const Entrant& entrant : entrants) {
    MethodEvaluation result{.label = entrant.label, .by_ordering = std::vector<Scores>(options.passes.passes())};
    std::vector<PartScores> parts;
    for (const Breakdown& breakdown : evaluation.breakdowns) {
      for (const Part& part : breakdown.parts) parts.push_back({&part, std::vector<Scores>(options.passes.passes())});
    }
    const bool finished =
        for_each_pass(evaluation.stream, *entrant.method, vote, options.passes, progress, [&](std::size_t number, Pass& pass) {
          result.by_ordering[number] = score(evaluation.stream, pass, options.resolution);
          for (PartScores& part : parts) part.by_ordering[number] = score(evaluation.stream, pass, options.resolution, *part.part);
          if (number == 0) result.first = std::move(pass);
        });
    if (!finished) return std::nullopt;
    result.scores = summarize(result.by_ordering);
    auto part = parts.begin();
    for (const Breakdown& breakdown : evaluation.breakdowns) {
      result.parts.emplace_back();
      for (std::size_t i = 0; i < breakdown.parts.size(); ++i) result.parts.back().push_back(summarize((part++)->by_ordering));
    }
    evaluation.methods.push_back(std::move(result));
  }
  return evaluation;
}

}  // namespace margin::experiment
