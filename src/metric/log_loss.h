// The log loss of one row; shared by the metric and its bootstrap rows.
#pragma once

#include "margin/math.h"
#include "margin/metric.h"

namespace margin::internal {

[[nodiscard]] inline double log_loss_of(double probability, double outcome) {
  const double p = clip(probability, kLogLossClip, 1.0 - kLogLossClip);
  return -(outcome * log(p) + (1.0 - outcome) * log1p(-p));
}

}  // namespace margin::internal
