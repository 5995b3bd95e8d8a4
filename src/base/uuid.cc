#include "margin/uuid.h"

#include <array>
#include <cstring>

#include "base/check.h"
#include "base/hex.h"

namespace margin {

namespace {

// The half behind the time: 62 random bits below the two that say what kind of id it is.
std::uint64_t random_half(Random& random) { return (random.bits() >> 2) | (std::uint64_t{1} << 63); }

}  // namespace

Uuid Uuid::make(std::int64_t time_ms, Random& random) {
  MARGIN_CHECK(time_ms >= 0 && time_ms < (std::int64_t{1} << 48), "a UUIDv7 holds 48 bits of milliseconds");
  const std::uint64_t high = (static_cast<std::uint64_t>(time_ms) << 16) | 0x7000 | (random.bits() & 0xfff);
  return {high, random_half(random)};
}

Uuid Uuid::later(Random& random) const {
  if ((high & 0xfff) == 0xfff) return make(time_ms() + 1, random);
  return {high + 1, random_half(random)};
}

namespace {

// Of every byte, its two digits.
constexpr auto kHexPairs = [] {
  std::array<char, 512> pairs{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    pairs[2 * byte] = internal::kHexDigits[byte / 16];
    pairs[2 * byte + 1] = internal::kHexDigits[byte % 16];
  }
  return pairs;
}();

constexpr bool is_dash(std::size_t place) { return place == 8 || place == 13 || place == 18 || place == 23; }

}  // namespace

Result<Uuid> Uuid::parse(std::string_view text) {
  const auto refused = [] {
    return Error{ErrorCode::kInvalidArgument, "id: expected a UUID such as 0190b5a2-7c3e-7d11-8a4f-2b6c9d0e1f23"};
  };
  if (text.size() != kTextBytes) return refused();
  std::uint64_t words[2] = {0, 0};
  int digits = 0;
  for (std::size_t i = 0; i < kTextBytes; ++i) {
    const char c = text[i];
    if (is_dash(i)) {
      if (c != '-') return refused();
      continue;
    }
    int value = 0;
    if (c >= '0' && c <= '9')
      value = c - '0';
    else if (c >= 'a' && c <= 'f')
      value = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F')
      value = c - 'A' + 10;
    else
      return refused();
    auto& word = words[digits++ / 16];
    word = (word << 4) | static_cast<std::uint64_t>(value);
  }
  return Uuid{words[0], words[1]};
}

std::string Uuid::text() const {
  std::string text(kTextBytes, '-');
  write(text.data());
  return text;
}

void Uuid::write(char* to) const {
  const auto bytes = [&](std::uint64_t bits, int count) {
    for (int shift = 8 * (count - 1); shift >= 0; shift -= 8, to += 2) std::memcpy(to, &kHexPairs[2 * ((bits >> shift) & 0xff)], 2);
  };
  bytes(high >> 32, 4);
  *to++ = '-';
  bytes(high >> 16, 2);
  *to++ = '-';
  bytes(high, 2);
  *to++ = '-';
  bytes(low >> 48, 2);
  *to++ = '-';
  bytes(low, 6);
}

}  // namespace margin
