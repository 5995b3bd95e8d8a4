// What stands behind the '?' of a path: checked against the route table before a handler sees it, then read.
#pragma once

#include <optional>
#include <string_view>

#include "json/json.h"

namespace margin::server {

// The first thing wrong with a query: a parameter that is not among `known` ("limit pool", blanks between them) or is there twice, an
// escape that is none.
[[nodiscard]] std::optional<Fault> check_query(std::string_view query, std::string_view known);

// "true" or "false"; `flag` stays as it is where the parameter is absent.
[[nodiscard]] std::optional<Fault> read_flag(std::string_view query, const char* name, std::optional<bool>& flag);

}  // namespace margin::server
