// Confidence profiles: how often a simulated model states which confidence. Used by the simulations.
#pragma once

#include <cstddef>
#include <span>

namespace margin::dataset {

struct ConfidenceLevel {
  double confidence = 0.0;
  double share = 0.0;  // of the responses; the shares of a profile sum to 1
};

// What real models do, roughly: nearly always above 0.9, from 0.85, mostly high with a thin tail, or over the whole range.
enum class Profile { kHigh, kMedium, kWide, kBroad };

// Highest confidence first.
[[nodiscard]] std::span<const ConfidenceLevel> levels_of(Profile profile);
// The level that holds the share `upper` of the responses above it, 0 <= upper < 1: 0 gives the highest confidence.
[[nodiscard]] std::size_t level_at(std::span<const ConfidenceLevel> levels, double upper);
[[nodiscard]] double mean_confidence(Profile profile);

}  // namespace margin::dataset
