// How ablations are shown: a table per sweep and metric, values down and conditions across, and a picture with the default marked.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/ablation.h"
#include "experiment/score.h"
#include "report/html.h"

namespace margin::experiment {

struct AblationSetting {
  ShiftOptions options;
  std::string boundary;  // as named
  std::vector<Metric> metrics;
  std::string vote;
};

// conditions[c][s] is the result of sweep s under condition c.
[[nodiscard]] report::Report ablation_report(std::span<const std::vector<ConditionResult>> conditions, std::span<const Sweep> sweeps,
                                             const AblationSetting& setting);

}  // namespace margin::experiment
