// Rates of exponential averages and gradient steps, and what a weight does to them. Used by the calibrators that forget gradually.
#pragma once

#include <algorithm>
#include <string>

#include "margin/math.h"
#include "margin/parameter.h"

namespace margin::internal {

// A decayed sum below this is nothing, and is set to it: further down it would end among the numbers whose square is 0, no snapshot of
// which is sound, and where arithmetic is slow.
inline constexpr double kFaded = 1e-100;

// A rate in (0, 1].
[[nodiscard]] inline ParameterSpec rate_parameter(std::string name, double fallback, std::string meaning) {
  ParameterSpec spec = number_parameter(std::move(name), fallback, 0.0, 1.0, std::move(meaning));
  spec.open_low = true;
  return spec;
}

// The rate of an exponential average for an observation of this weight, 1-(1-alpha)^w: two halves forget as much as one whole.
// Exactly alpha at weight 1.
[[nodiscard]] inline double weighted_rate(double alpha, double weight) { return weight == 1.0 ? alpha : -expm1(weight * log1p(-alpha)); }

// The rate of an average that starts as if `prior` observations stood behind it, of which `count` follow, and that settles at `rate`.
[[nodiscard]] inline double settling_rate(double rate, double prior, double count) { return std::max(rate, 1.0 / (prior + count)); }

}  // namespace margin::internal
