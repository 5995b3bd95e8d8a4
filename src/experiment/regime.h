// Regimes: the same methods, orderings and resamples under different ways of learning. What `margin experiment feedback` and `transfer`
// are made of.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/shift.h"

namespace margin::experiment {

// One way to learn: what happens at the boundary, and which outcomes arrive when.
struct Regime {
  std::string label;
  Boundary boundary = Boundary::kTold;
  PassOptions pass;
};

struct RegimeResults {
  std::string condition;
  std::vector<std::string> labels;       // of the regimes
  std::vector<ConditionResult> results;  // by regime; the entrants as given
};

// run_shift under each regime: paired, since orderings and resamples depend on the seed alone. nullopt when stopped through `progress`.
[[nodiscard]] std::optional<RegimeResults> run_regimes(const Condition& condition, std::span<const Entrant> entrants, const Vote& vote,
                                                       std::span<const Regime> regimes, const ShiftOptions& options,
                                                       Progress* progress = nullptr);

// Of `feedback`: outcomes that come late, one regime per lag (the first is what the others are compared with), then the selected
// answer's outcome alone when `selected`, then each remedy with each rate of audits.
struct FeedbackGrid {
  std::vector<std::size_t> lags;
  bool selected = true;
  std::vector<RemedyKind> remedies;
  std::vector<double> audits = {0.0};
};
[[nodiscard]] std::vector<Regime> feedback_regimes(const FeedbackGrid& grid, Boundary boundary);

// Of `transfer`: learned on the source and frozen, then from scratch on the target.
inline constexpr std::size_t kTransferred = 0, kFromScratch = 1;
[[nodiscard]] std::vector<Regime> transfer_regimes();

}  // namespace margin::experiment
