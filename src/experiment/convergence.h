// Convergence: how soon a method pays, as pass@1 over the first tasks. What `margin experiment convergence` computes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/passes.h"
#include "experiment/score.h"
#include "experiment/shift.h"

namespace margin::experiment {

struct ConvergenceCurve {
  std::string label;
  std::vector<Spread> pass1;  // by checkpoint, over passes
};

struct ConvergenceResult {
  std::string channel;
  std::vector<std::size_t> checkpoints;  // tasks done; rising, the last is all
  std::vector<ConvergenceCurve> curves;
};

// Checkpoints beyond the stream are left out; all its tasks are always the last. nullopt when stopped.
[[nodiscard]] std::optional<ConvergenceResult> run_convergence(const Stream& stream, std::span<const Entrant> entrants, const Vote& vote,
                                                               std::span<const std::size_t> checkpoints, const PassesOptions& options,
                                                               Progress* progress = nullptr);

}  // namespace margin::experiment
