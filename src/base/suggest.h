// "did you mean ...": the nearest of the known names, for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace margin::internal {

// " (did you mean X?)", or " (known: a, b, c)" when nothing is near.
[[nodiscard]] std::string suggestion(std::string_view name, std::span<const std::string> known);

}  // namespace margin::internal
