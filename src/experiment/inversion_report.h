// How inversion results are shown: correlations, ties and the levels of every model.
#pragma once

#include <span>

#include "experiment/inversion.h"
#include "experiment/passes_report.h"
#include "report/html.h"

namespace margin::experiment {

[[nodiscard]] report::Report inversion_report(std::span<const InversionResult> results, std::size_t model_orders,
                                              const PassesSetting& setting);

}  // namespace margin::experiment
