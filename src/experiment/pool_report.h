// How pool scenarios are shown: what they asked for, as mean and standard deviation over orderings, and ECE over time with the events.
#pragma once

#include <span>

#include "experiment/pool_scenario.h"
#include "report/html.h"

namespace margin::experiment {

[[nodiscard]] report::Report pool_report(std::span<const PoolResult> scenarios, const PoolOptions& options);

}  // namespace margin::experiment
