// Fixed-width hexadecimal, used by digests and ids.
#pragma once

#include <cstdint>
#include <string>

namespace margin::internal {

[[nodiscard]] inline std::string hex(std::uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) text[i] = kDigits[value & 0xf];
  return text;
}

}  // namespace margin::internal
