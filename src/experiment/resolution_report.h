// How pairwise resolution is shown: a table per channel and subset of models.
#pragma once

#include <span>

#include "experiment/passes_report.h"
#include "experiment/resolution.h"
#include "report/html.h"

namespace margin::experiment {

[[nodiscard]] report::Report resolution_report(std::span<const ResolutionResult> results, const ResolutionRules& rules,
                                               const PassesSetting& setting);

}  // namespace margin::experiment
