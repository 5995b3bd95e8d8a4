// How the feedback experiment is shown: what late and partial outcomes cost each method.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "experiment/regime.h"
#include "report/html.h"

namespace margin::experiment {

struct FeedbackSetting {
  ShiftOptions options;
  std::string boundary;  // as named
  FeedbackGrid grid;
  std::string vote;
};

// `conditions` come from run_regimes(feedback_regimes(setting.grid, ...)).
[[nodiscard]] report::Report feedback_report(std::span<const RegimeResults> conditions, const FeedbackSetting& setting);

}  // namespace margin::experiment
