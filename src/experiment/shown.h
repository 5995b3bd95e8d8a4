// How the metrics of shift results are shown, for the reports of experiments: names, kinds, levels, and paired differences.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "experiment/score.h"
#include "experiment/shift.h"
#include "margin/result.h"
#include "report/estimate.h"
#include "report/table.h"

namespace margin::experiment {

struct ShownMetric {
  Metric metric = kEce;
  std::string_view name;  // as people read it
  report::Kind kind = report::Kind::kPercent;
  report::Best best = report::Best::kLowest;
};
[[nodiscard]] const ShownMetric& shown(Metric metric);
// By the name in kMetricNames. kNotFound suggests the nearest.
[[nodiscard]] Result<Metric> parse_metric(std::string_view name);

// Mean over orderings; nullopt when undefined.
[[nodiscard]] std::optional<double> level(const EntrantResult& entrant, Metric metric);
// a - b with the 95% interval over resampled tasks, where the metric has resamples (not ece_per_model and resolution); both of one
// condition and the same resamples.
[[nodiscard]] std::optional<report::Estimate> difference(const EntrantResult& a, const EntrantResult& b, Metric metric);

}  // namespace margin::experiment
