// How convergence is shown: cumulative pass@1 as a table and as curves.
#pragma once

#include <span>

#include "experiment/convergence.h"
#include "experiment/passes_report.h"
#include "report/html.h"

namespace margin::experiment {

[[nodiscard]] report::Report convergence_report(std::span<const ConvergenceResult> results, const PassesSetting& setting);

}  // namespace margin::experiment
