// What a pool accepts: names, numbers and forms, checked before anything changes. Used by decide, resolve and apply.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "margin/event.h"
#include "margin/pool.h"
#include "margin/result.h"

namespace margin::internal {

inline constexpr std::size_t kNameBytesMax = 256;
// Feedback requests that one decision remembers, refused ones aside; a further one is refused.
inline constexpr std::size_t kFeedbacksMax = 1024;
// A pinned factor is at most this, like every factor.
inline constexpr double kPinMax = 20.0;
// Times are those a UUIDv7 can hold.
inline constexpr std::int64_t kTimeMsEnd = std::int64_t{1} << 48;

// Missing confidence, NaN and abstention make a response unusable.
[[nodiscard]] inline bool usable(std::optional<double> confidence, bool abstained) {
  return confidence.has_value() && !std::isnan(*confidence) && !abstained;
}

// Models that a decision tries to do without, to name those that decided it: bounds what that costs.
inline constexpr std::size_t kAbsencesMax = 32;

[[nodiscard]] inline bool is_probability(double x) { return x >= 0.0 && x <= 1.0; }

[[nodiscard]] Error out_of_range(std::string_view field, double value, std::string_view expected);

[[nodiscard]] Status check_model_name(std::string_view field, std::string_view name);
[[nodiscard]] Status check_cell_names(std::string_view channel, std::string_view segment);
[[nodiscard]] Status check_config(const PoolConfigured& config);
// `seated`: every model, channel and the segment are known to the pool, each pair of model and channel once; their names need no other
// check.
[[nodiscard]] Status check_draft(const Draft& draft, const PoolConfigured& config, bool seated);
[[nodiscard]] Status check_decision(const DecisionMade& decision, const PoolConfigured& config, bool seated);
// Exactly one form, every number in range; says nothing about the decision.
[[nodiscard]] Status check_outcome(const OutcomeObserved& outcome, const PoolConfigured& config);

}  // namespace margin::internal
