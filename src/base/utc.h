// Times for people: milliseconds since 1970 as RFC 3339 in UTC. Used by logs and lists.
#pragma once

#include <cstdint>
#include <string>

namespace margin::internal {

// "2024-05-17T08:30:15.250Z"; years 0 to 9999, beyond them the nearest of these.
[[nodiscard]] std::string utc_text(std::int64_t time_ms);

}  // namespace margin::internal
