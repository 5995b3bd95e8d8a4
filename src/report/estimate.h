// Estimate: a number with what is known of its precision, in tables and pictures.
#pragma once

#include <cmath>
#include <optional>

namespace margin::report {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

struct Estimate {
  double value = 0.0;
  std::optional<Interval> interval;
};

// The estimate without what is not a finite number; nothing when its value is not one.
[[nodiscard]] inline std::optional<Estimate> finite(const Estimate& estimate) {
  if (!std::isfinite(estimate.value)) return std::nullopt;
  const auto& interval = estimate.interval;
  const bool known = interval && std::isfinite(interval->low) && std::isfinite(interval->high);
  return Estimate{estimate.value, known ? interval : std::nullopt};
}

}  // namespace margin::report
