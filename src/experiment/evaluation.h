// Evaluation: methods replayed over a stream and scored, once in file order or averaged over orderings. What `margin replay` shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/parallel.h"
#include "experiment/replay.h"
#include "experiment/score.h"
#include "experiment/stream.h"
#include "margin/calibrator.h"
#include "margin/result.h"
#include "margin/vote.h"

namespace margin::experiment {

struct EvaluationOptions {
  std::uint32_t orderings = 0;  // 0: file order, once
  std::uint64_t seed = 1;
  PassOptions pass;
  ResolutionRules resolution;
  Threads threads;
};

struct MethodEvaluation {
  std::string identifier;
  bool unfitted = false;  // a design-time method without calibration rows: passes confidences through
  ScoreSummary scores;
  std::optional<Pass> pass;  // in file order only
};

struct Evaluation {
  Stream stream;
  std::vector<MethodEvaluation> methods;
};

// Every method sees the same orderings. Design-time methods are fitted on `calibration` (of the stream's models) and frozen.
[[nodiscard]] Evaluation evaluate(Stream stream, std::span<const std::unique_ptr<Calibrator>> methods, const Vote& vote,
                                  std::span<const Observation> calibration, const EvaluationOptions& options);

}  // namespace margin::experiment
