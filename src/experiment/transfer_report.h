// How the transfer experiment is shown: factors learned on the source and frozen, against learning from scratch and against nothing.
#pragma once

#include <span>
#include <string>

#include "experiment/regime.h"
#include "report/html.h"

namespace margin::experiment {

// `conditions` come from run_regimes(transfer_regimes()); the first entrant is raw.
[[nodiscard]] report::Report transfer_report(std::span<const RegimeResults> conditions, const ShiftOptions& options);

}  // namespace margin::experiment
