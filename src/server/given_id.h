// Ids as clients have them: a UUID, with the prefix of a chat completion's id, or as 32 digits from a trace.
#pragma once

#include <optional>
#include <string_view>

#include "margin/uuid.h"

namespace margin::server {

// nullopt: none of these.
[[nodiscard]] std::optional<Uuid> parse_given_id(std::string_view text);

}  // namespace margin::server
