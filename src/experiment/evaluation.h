// Evaluation: methods replayed over a stream and scored, once in file order or over many orderings, as a whole and in parts. What `margin
// replay` shows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/observation_log.h"
#include "experiment/decisions.h"
#include "experiment/passes.h"
#include "experiment/replay.h"
#include "experiment/score.h"
#include "experiment/shift.h"
#include "experiment/stream.h"
#include "margin/vote.h"

namespace margin::experiment {

// A stream cut into parts, each scored by itself.
struct Breakdown {
  std::string by;  // "model" or "phase"
  std::vector<Part> parts;
};
[[nodiscard]] Breakdown by_model(const Stream& stream);
// `stream` was made of `log`.
[[nodiscard]] Breakdown by_phase(const Stream& stream, const dataset::ObservationLog& log);

// The mean outcome of the part's graded rows.
[[nodiscard]] std::optional<double> accuracy_of(const Stream& stream, const Part& part);
// What can be said of a part: a model by itself selects nothing.
[[nodiscard]] std::span<const Metric> metrics_of(const Part& part);

struct MethodEvaluation {
  std::string label;
  std::vector<Scores> by_ordering;
  ScoreSummary scores;
  std::vector<std::vector<ScoreSummary>> parts;   // as the breakdowns and their parts
  std::optional<Pass> first;                      // of the passes, when it is kept: in file order when there are no orderings
  std::vector<std::optional<double>> first_sure;  // by task, likewise: p_correct of its decisions
  std::optional<DecisionScores> decision;         // over all passes, when a promised error was asked for
};

struct Evaluation {
  Stream stream;
  std::vector<Breakdown> breakdowns;
  std::vector<MethodEvaluation> methods;
};

struct EvaluationOptions {
  PassesOptions passes;  // its resamples take no part
  ResolutionRules resolution;
  std::optional<double> max_error;  // promised: scores the decisions' own probability, which takes about as long as a method
  bool keep_first = false;          // pictures, and files of single responses, need it; it costs as much memory as a column of the log
};

// Every method sees the same orderings. `entrants` are fitted already where they are fitted at all. nullopt when stopped through
// `progress`.
[[nodiscard]] std::optional<Evaluation> evaluate(Stream stream, std::vector<Breakdown> breakdowns, std::span<const Entrant> entrants,
                                                 const Vote& vote, const EvaluationOptions& options, Progress* progress = nullptr);

}  // namespace margin::experiment
