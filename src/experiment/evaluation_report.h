// The report of `margin replay`: scores and breakdowns as tables; reliability before and after, factors, and risk against coverage as
// pictures.
#pragma once

#include <optional>
#include <span>

#include "experiment/evaluation.h"
#include "experiment/passes_report.h"
#include "report/html.h"

namespace margin::experiment {

// The pictures are of the first pass. `max_error`: that of the evaluation's options.
[[nodiscard]] report::Report evaluation_report(std::span<const Evaluation> evaluations, const PassesSetting& setting,
                                               std::optional<double> max_error = std::nullopt);

}  // namespace margin::experiment
