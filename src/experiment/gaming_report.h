// How the watch's reports, and what it makes of simulated attackers, are shown.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/gaming.h"
#include "report/html.h"

namespace margin::experiment {

[[nodiscard]] report::Report watch_report(std::span<const WatchedStream> streams, const WatchOptions& options);

[[nodiscard]] report::Report gaming_report(std::span<const GamingResult> results, const GamingOptions& options);

}  // namespace margin::experiment
