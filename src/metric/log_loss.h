// The log loss of one row; shared by the metric and its bootstrap rows.
#pragma once

#include "margin/math.h"
#include "margin/metric.h"

namespace margin::internal {

[[nodiscard]] inline double log_loss_of(double probability, double outcome) {
  const double p = clip(probability, kLogLossClip, 1.0 - kLogLossClip);
  // What the sum of both terms says for outcomes 0 and 1, without the logarithm that counts nothing.
  if (outcome == 1.0) return -log(p);
  if (outcome == 0.0) return -log1p(-p);
  return -(outcome * log(p) + (1.0 - outcome) * log1p(-p));
}

}  // namespace margin::internal
