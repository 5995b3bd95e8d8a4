// Resolution: of two models with different outcomes, does confidence tell the better? By method. What `margin experiment resolution`
// computes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/estimate_cells.h"
#include "experiment/graded.h"
#include "experiment/passes.h"
#include "experiment/shift.h"

namespace margin::experiment {

struct ResolutionRow {
  std::string label;
  TieRule tie = TieRule::kHalf;
  Measured resolution;
  std::optional<double> sd;  // over passes
  // Means over passes; ties depend on what a method makes of confidences.
  double contests = 0.0, ties = 0.0, missing = 0.0;
  std::size_t both_right = 0, both_wrong = 0;
  std::optional<report::Estimate> over_raw;  // against raw under the same rules
};

struct ResolutionResult {
  std::string channel;
  std::string subset;
  std::size_t models = 0, tasks = 0;
  std::vector<ResolutionRow> rows;  // raw under half and strict, then every other entrant under rules.tie
};

// `graded` holds the tasks of the stream, and perhaps responses without a confidence. The first entrant is raw. nullopt when stopped.
[[nodiscard]] std::optional<ResolutionResult> run_resolution(const Stream& stream, const GradedStream& graded,
                                                             std::span<const Entrant> entrants, const Vote& vote,
                                                             const ResolutionRules& rules, const PassesOptions& options,
                                                             Progress* progress = nullptr);
[[nodiscard]] std::size_t resolution_work(std::size_t entrants, const PassesOptions& options);

}  // namespace margin::experiment
