// Digest: a 128-bit fingerprint of bytes (XXH3), the same on every machine. It finds differences; it is not a defence against forgery.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace margin {

struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  auto operator<=>(const Digest&) const = default;
  // 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;
};

[[nodiscard]] Digest digest_of(std::string_view bytes);

}  // namespace margin
