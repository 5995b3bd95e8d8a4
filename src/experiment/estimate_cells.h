// Cells of the experiments' tables: an estimate with the 95% interval of its resamples, a paired difference with its own.
#pragma once

#include <optional>
#include <utility>

#include "margin/bootstrap.h"
#include "margin/selection_metric.h"
#include "report/table.h"

namespace margin::experiment {

// What is compared: a value and its resamples, from one Resampling.
struct Measured {
  std::optional<double> value;
  Resampled resampled;
};

[[nodiscard]] inline std::optional<report::Estimate> estimate_of(const std::optional<double>& value,
                                                                 const std::optional<Interval>& interval) {
  if (!value) return std::nullopt;
  report::Estimate estimate{*value, std::nullopt};
  if (interval) estimate.interval = {interval->low, interval->high};
  return estimate;
}

[[nodiscard]] inline std::optional<report::Estimate> estimate_of(const Measured& measured) {
  return estimate_of(measured.value, percentile_interval(measured.resampled));
}

// a - b.
[[nodiscard]] inline std::optional<report::Estimate> difference_of(const Measured& a, const Measured& b) {
  if (!a.value || !b.value) return std::nullopt;
  return estimate_of(*a.value - *b.value, paired_difference(a.resampled, b.resampled, Better::kHigher).interval);
}

// (ours - base) / (oracle - base).
[[nodiscard]] inline std::optional<report::Estimate> gap_closed_estimate(const Measured& ours, const Measured& base,
                                                                         const Measured& oracle) {
  if (!ours.value || !base.value || !oracle.value) return std::nullopt;
  return estimate_of(GapClosed{*ours.value, *base.value, *oracle.value}.value(),
                     percentile_interval(gap_closed(ours.resampled, base.resampled, oracle.resampled)));
}

[[nodiscard]] inline report::Cell cell_of(const std::optional<report::Estimate>& estimate) {
  return estimate ? report::Cell(*estimate) : report::Cell();
}

}  // namespace margin::experiment
