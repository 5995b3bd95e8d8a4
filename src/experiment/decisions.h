// Decisions: how sure a pass was of what it selected, and how well that held. Used by `margin replay` and `margin experiment votes`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/replay.h"
#include "experiment/stream.h"
#include "report/table.h"

namespace margin::experiment {

// The calibrator of the decision's own probability, as a pool has it by default.
inline constexpr const char* kTrustMethod = "margin_adaptive";

// What was decided at a place of an order.
struct Decision {
  std::optional<double> outcome;  // of the selected answer; nullopt: nothing voted, or it is not known
  double share = 0.0;             // of the winner
  double weight = 1.0;            // of the outcome
  bool arrives = true;            // the outcome, to be learned; else it only scores
};
// By place: p_correct of the decision, from those whose outcome had arrived by then: a decision's does when the last row of its task is
// learned, `lag` usable rows late.
[[nodiscard]] std::vector<double> decision_probabilities(const Stream& stream, std::span<const std::uint32_t> order,
                                                         std::span<const Decision> decisions, std::size_t lag);
// By place, what a pass in that order with these options decided; `outcomes` by task are those of the selected answers.
[[nodiscard]] std::vector<Decision> decisions_of(const Stream& stream, std::span<const std::uint32_t> order, const Pass& pass,
                                                 const PassOptions& options, std::span<const std::optional<double>> outcomes);

// Decisions by their own probability.
struct DecisionScores {
  double ece = 0.0;
  double squared = 0.0;    // debiased estimate of the squared calibration error; may be negative
  double in_band = 0.0;    // 1: a perfect forecaster with the same probabilities would show such an ECE, at 95%
  double decisions = 0.0;  // how many were scored
  double answered = 0.0;   // share of them that a promised error allows
  double promised = 0.0;   // mean promised error of those
  double realised = 0.0;   // their error

  [[nodiscard]] double debiased() const;  // root of `squared`, 0 where it is negative
};
// Of those with a probability and an outcome.
[[nodiscard]] DecisionScores score_decisions(std::span<const std::optional<double>> probabilities,
                                             std::span<const std::optional<double>> outcomes, double max_error);
// Every field by itself; errors weigh by decisions answered.
[[nodiscard]] DecisionScores mean_of(std::span<const DecisionScores> scores);

// The table that shows them, without rows: `subject`, ECE, debiased ECE, inside the band, answered, promised and realised error.
[[nodiscard]] report::Table decision_table(std::string title, std::string subject, double max_error);

}  // namespace margin::experiment
