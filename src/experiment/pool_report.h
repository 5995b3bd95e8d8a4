// How pool scenarios are shown: what they asked for, as mean and standard deviation over orderings, and ECE over time with the events. A
// cold start is also told in Brier score and log loss, and as the paired differences between one method and every other: so few rows make
// ECE mostly noise, which a constant escapes.
#pragma once

#include <span>
#include <string>

#include "experiment/pool_scenario.h"
#include "report/html.h"

namespace margin::experiment {

// `focus`: the label that a cold start compares with every other.
[[nodiscard]] report::Report pool_report(std::span<const PoolResult> scenarios, const PoolOptions& options, const std::string& focus);

}  // namespace margin::experiment
