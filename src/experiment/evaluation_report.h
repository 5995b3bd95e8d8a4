// The report of `margin replay`: scores and breakdowns as tables; reliability before and after, factors, and risk against coverage as
// pictures.
#pragma once

#include <span>

#include "experiment/evaluation.h"
#include "experiment/passes_report.h"
#include "report/html.h"

namespace margin::experiment {

// The pictures are of the first pass.
[[nodiscard]] report::Report evaluation_report(std::span<const Evaluation> evaluations, const PassesSetting& setting);

}  // namespace margin::experiment
