// Times of a log as people write them.
#pragma once

#include <optional>
#include <string_view>

namespace margin::dataset {

// "2024-05-17", "2024-05-17T08:30", "2024-05-17T08:30:15.25Z", "... +02:00" (a space may stand for T; no zone means UTC) to seconds since
// 1970-01-01T00:00Z. nullopt for anything else.
[[nodiscard]] std::optional<double> parse_timestamp(std::string_view text);

}  // namespace margin::dataset
