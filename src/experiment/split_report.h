// How a split is shown: every model's accuracy and every method's calibration, early against late.
#pragma once

#include <span>

#include "experiment/passes_report.h"
#include "experiment/split.h"
#include "report/html.h"

namespace margin::experiment {

[[nodiscard]] report::Report split_report(std::span<const SplitResult> results, const PassesSetting& setting);

}  // namespace margin::experiment
