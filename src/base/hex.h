// Fixed-width hexadecimal, used by digests and ids.
#pragma once

#include <cstdint>
#include <string>

namespace margin::internal {

inline constexpr char kHexDigits[] = "0123456789abcdef";

[[nodiscard]] inline std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) text[i] = kHexDigits[value & 0xf];
  return text;
}

}  // namespace margin::internal
