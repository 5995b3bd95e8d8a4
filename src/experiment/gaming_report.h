// How the watch's reports, and what it makes of simulated attackers, are shown.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/gaming.h"
#include "report/html.h"

namespace margin::experiment {

// What the watch reported of one channel.
struct WatchedStream {
  std::string channel;
  std::vector<std::string> models;
  std::uint64_t tasks = 0;
  std::vector<WatchReport> reports;
  std::uint64_t dropped = 0;
};
[[nodiscard]] report::Report watch_report(std::span<const WatchedStream> streams, const WatchOptions& options);

[[nodiscard]] report::Report gaming_report(std::span<const GamingResult> results, const GamingOptions& options);

}  // namespace margin::experiment
