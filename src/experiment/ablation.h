// Ablation: what a method's parameters do. A sweep is a method at each value of a grid, everything else as it was; every value sees the
// same orderings and resamples. What `margin experiment ablation` computes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/shift.h"
#include "margin/calibrator.h"
#include "margin/result.h"

namespace margin::experiment {

// "margin.alpha=0.01,0.02", or parameters that move together: "margin.alpha_correct/alpha_incorrect=0.02/0.08,0.08/0.02". Not yet looked
// up. Values of a list parameter have commas of their own and are separated by ';'.
struct SweepRequest {
  std::string method;
  std::vector<std::string> names;
  std::string values;
};
// kInvalidArgument: not of that form.
[[nodiscard]] Result<SweepRequest> parse_sweep(std::string_view text);

// "alpha", "bands", "shrinkage" or "two_rate": the published grids of margin. kNotFound suggests the nearest.
[[nodiscard]] Result<SweepRequest> sweep_preset(std::string_view name);

struct Sweep {
  std::string method;
  std::string parameter;            // "alpha"; "alpha_correct/alpha_incorrect" when several move together
  std::vector<Entrant> entrants;    // one per value, labelled with it
  std::vector<double> numbers;      // the values as numbers; empty when they are not single numbers
  std::string base_value;           // what the method has without the sweep
  std::optional<std::size_t> base;  // where that stands among the values
};
// `base` is the method with the parameters that are not swept. kInvalidArgument: an unknown parameter, a bad value, a value twice.
[[nodiscard]] Result<Sweep> make_sweep(const SweepRequest& request, const Calibrator& base);

// Per sweep the results of its values. nullopt when stopped through `progress`.
[[nodiscard]] std::optional<std::vector<ConditionResult>> run_ablation(const Condition& condition, std::span<const Sweep> sweeps,
                                                                       const Vote& vote, const ShiftOptions& options,
                                                                       Progress* progress = nullptr);

}  // namespace margin::experiment
