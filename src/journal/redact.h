// redact: text without the secrets that commonly stray into it. Everything that is logged goes through it.
#pragma once

#include <string>
#include <string_view>

namespace margin::journal {

// Keys (sk-...; the public part of our own stays), what follows Bearer or Basic, and values of authorization and api-key headers
// become ***.
[[nodiscard]] std::string redact(std::string_view text);

}  // namespace margin::journal
