// How selection results are shown: pass@1 of every way to select, and what it gains.
#pragma once

#include <span>

#include "experiment/passes_report.h"
#include "experiment/selection.h"
#include "report/html.h"

namespace margin::experiment {

[[nodiscard]] report::Report selection_report(std::span<const SelectionResult> results, const PassesSetting& setting);

}  // namespace margin::experiment
