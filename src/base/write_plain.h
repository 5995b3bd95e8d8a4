// write_plain: a text into JSON, without a call for texts as short as names mostly are.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "base/copy_text.h"

namespace margin::internal {

using Words = std::uint64_t __attribute__((vector_size(16)));

// The bytes of ASCII that need no escaping in JSON, as 255, the others as 0. All at a time, by the compiler's own vectors: bytes from 0x80
// on are negative there, and one more than 0x7f is, too.
[[nodiscard, gnu::always_inline]] inline Words plain_in(Words words) {
  using Bytes = std::uint8_t __attribute__((vector_size(sizeof words)));
  using Signed = std::int8_t __attribute__((vector_size(sizeof words)));
  const auto bytes = std::bit_cast<Bytes>(words);
  const auto escaped = std::bit_cast<Bytes>((bytes == '"') | (bytes == '\\'));
  return std::bit_cast<Words>(std::bit_cast<Signed>((bytes + 1) & ~escaped) > 0x20);
}
inline constexpr std::uint64_t kAllPlain = ~std::uint64_t{0};

// Whether a text is as short as names and answers mostly are.
[[nodiscard]] constexpr bool is_short(std::string_view text) { return !text.empty() && text.size() <= 16; }

// The same as write_plain, for such a text.
[[nodiscard, gnu::always_inline]] inline char* write_short_plain(char* to, std::string_view text) {
  const char* const from = text.data();
  const std::size_t size = text.size();
  // The first word and the last, which may overlap.
  if (size >= 8) {
    const std::uint64_t first = move_word<std::uint64_t>(to, from);
    const Words plain = plain_in(Words{first, move_word<std::uint64_t>(to + size - 8, from + size - 8)});
    return (plain[0] & plain[1]) == kAllPlain ? to + size : nullptr;
  }
  std::uint64_t word = 0x2020'2020'2000'0000;
  if (size >= 4) {
    word = move_word<std::uint32_t>(to, from) | move_word<std::uint32_t>(to + size - 4, from + size - 4) << 32;
  } else {
    const auto move = [&](std::size_t at) { return move_word<std::uint8_t>(to + at, from + at); };
    word |= move(0) | move(size / 2) << 8 | move(size - 1) << 16;
  }
  return plain_in(Words{word, 0})[0] == kAllPlain ? to + size : nullptr;
}

// The same, for any other.
[[nodiscard]] char* write_other_plain(char* to, std::string_view text);

// Writes a text in which nothing needs escaping; returns the end. nullptr where something does: what was written then means nothing.
[[nodiscard, gnu::always_inline]] inline char* write_plain(char* to, std::string_view text) {
  return is_short(text) ? write_short_plain(to, text) : write_other_plain(to, text);
}

}  // namespace margin::internal
