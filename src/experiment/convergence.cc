#include "experiment/convergence.h"

#include <algorithm>

#include "experiment/graded.h"

namespace margin::experiment {

std::optional<ConvergenceResult> run_convergence(const Stream& stream, std::span<const Entrant> entrants, const Vote& vote,
                                                 std::span<const std::size_t> checkpoints, const PassesOptions& options,
                                                 Progress* progress) {
  ConvergenceResult result{.channel = stream.channel, .checkpoints = {checkpoints.begin(), checkpoints.end()}, .curves = {}};
  std::vector<std::size_t>& marks = result.checkpoints;
  marks.push_back(stream.tasks.size());
  std::sort(marks.begin(), marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
  std::erase_if(marks, [&](std::size_t mark) { return mark > stream.tasks.size(); });

  const GradedStream graded(stream);
  for (const Entrant& entrant : entrants) {
    using Values = std::vector<std::optional<double>>;
    std::vector<Values> by_mark(marks.size(), Values(options.passes()));
    const bool finished = for_each_pass(stream, *entrant.method, vote, options, progress, [&](std::size_t number, const Pass& pass) {
      const Values outcomes = selected_outcomes(graded, pass);
      Values in_order;
      for (const std::uint32_t task : order_of_pass(stream, options, number)) in_order.push_back(outcomes[task]);
      for (std::size_t i = 0; i < marks.size(); ++i) by_mark[i][number] = mean_over_tasks(std::span(in_order).first(marks[i])).value;
    });
    if (!finished) return std::nullopt;
    ConvergenceCurve curve{.label = entrant.label, .pass1 = {}};
    for (const Values& values : by_mark) curve.pass1.push_back(spread_of(values));
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace margin::experiment
