#include "experiment/evaluation.h"

#include "base/check.h"
#include "experiment/ordering.h"
#include "experiment/parallel.h"

namespace margin::experiment {

Evaluation evaluate(Stream stream, std::span<const std::unique_ptr<Calibrator>> methods, const Vote& vote,
                    std::span<const Observation> calibration, const EvaluationOptions& options) {
  Evaluation evaluation{std::move(stream), {}};
  for (const std::unique_ptr<Calibrator>& method : methods) {
    MethodEvaluation result{.identifier = method->info().identifier, .unfitted = method->info().design_time && calibration.empty()};
    const std::unique_ptr<Calibrator> start = method->clone();
    if (start->info().design_time && !calibration.empty()) {
      const Status fitted = start->fit(calibration);
      MARGIN_CHECK(fitted.ok(), "a stream holds only what a calibrator accepts");
    }
    std::vector<Scores> scores;
    if (options.orderings == 0) {
      result.pass = replay(evaluation.stream, file_order(evaluation.stream), *start, vote, options.pass);
      scores.push_back(score(evaluation.stream, *result.pass, options.resolution));
    }
    if (options.orderings > 0) {
      scores.resize(options.orderings);
      parallel_for(options.orderings, options.threads, nullptr, [&](std::size_t ordering) {
        const auto order = shuffled_order(evaluation.stream, options.seed, ordering);
        const Pass pass = replay(evaluation.stream, order, *start, vote, options.pass);
        scores[ordering] = score(evaluation.stream, pass, options.resolution);
      });
    }
    result.scores = summarize(scores);
    evaluation.methods.push_back(std::move(result));
  }
  return evaluation;
}

}  // namespace margin::experiment
