// The event logs that the conformance suite runs over, and events to put into them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "log/event_log.h"

namespace margin::conformance {

struct LogBackend {
  std::string name;
  // A store of this backend in the folder `path`: made when it is not there, opened again when it is.
  std::function<std::unique_ptr<EventLog>(const std::string& path, const QueueLimits& limits)> open;
  bool survives_reopening = false;
};

[[nodiscard]] const std::vector<LogBackend>& log_backends();

// Event number n: its id, its time and its content are functions of n.
[[nodiscard]] Event numbered_event(std::uint64_t n);

}  // namespace margin::conformance
