// BothHistories: two sums that fade with the observations they take, brought together as if one memory had heard both histories in turn.
// Used where states of margin_adaptive are merged.
//
// After n observations of weight 1 a memory of length C, which keeps 1 - 1/C of its sum at each, holds C (1 - (1 - 1/C)^n): its mass. Each
// history has the part of its own mass in what is remembered together, and that has the mass that n1 + n2 observations leave.
#pragma once

#include <algorithm>
#include <limits>

#include "margin/math.h"

namespace margin::internal {

// Of a memory of this length (at least 1) after so many observations.
[[nodiscard]] inline double mass_after(double observations, double memory) {
  if (observations <= 0.0) return 0.0;
  return memory > 1.0 ? -memory * expm1(observations * log1p(-1.0 / memory)) : std::min(observations, 1.0);
}

// How many observations leave that mass; without end where the memory is full.
[[nodiscard]] inline double observations_of(double mass, double memory) {
  if (mass <= 0.0) return 0.0;
  if (mass >= memory || memory <= 1.0) return std::numeric_limits<double>::infinity();
  return log1p(-mass / memory) / log1p(-1.0 / memory);
}

struct BothHistories {
  double own = 0.0;     // observations
  double theirs = 0.0;  // of the other history

  // By which two sums that faded in the first two memories are multiplied when they are added up in the third.
  [[nodiscard]] double kept(double own_memory, double their_memory, double memory) const {
    if (own <= 0.0 || theirs <= 0.0) return 1.0;
    return mass_after(own + theirs, memory) / (mass_after(own, own_memory) + mass_after(theirs, their_memory));
  }
};

}  // namespace margin::internal
