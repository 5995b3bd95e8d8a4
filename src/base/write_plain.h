// write_plain: a text into JSON, without a call for texts as short as names mostly are.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace margin::internal {

// Some byte of the words must be escaped in JSON, or is none of ASCII. All at a time, by the compiler's own vectors; bytes from 0x80 on are
// negative there, and one more than 0x7f is, too.
[[nodiscard, gnu::always_inline]] inline bool any_special(std::uint64_t first, std::uint64_t last) {
  using Bytes = std::uint8_t __attribute__((vector_size(16)));
  using Signed = std::int8_t __attribute__((vector_size(16)));
  using Words = std::uint64_t __attribute__((vector_size(16)));
  const auto bytes = std::bit_cast<Bytes>(Words{first, last});
  const auto plain = std::bit_cast<Words>((std::bit_cast<Signed>(bytes + 1) > 0x20) & ~((bytes == '"') | (bytes == '\\')));
  return (plain[0] & plain[1]) != ~std::uint64_t{0};
}

// Returns the word that it moves.
template <class Word>
[[gnu::always_inline]] inline std::uint64_t move_word(char* to, const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  std::memcpy(to, &word, sizeof word);
  return word;
}

// What write_plain does with texts of less than 4 bytes and of more than 16.
[[nodiscard]] char* write_other_plain(char* to, std::string_view text);

// Writes a text in which nothing needs escaping; returns the end. nullptr where something does: what was written then means nothing.
[[nodiscard, gnu::always_inline]] inline char* write_plain(char* to, std::string_view text) {
  const char* const from = text.data();
  const std::size_t size = text.size();
  // The first word and the last, which may overlap.
  if (size >= 8 && size <= 16) {
    const std::uint64_t first = move_word<std::uint64_t>(to, from);
    return any_special(first, move_word<std::uint64_t>(to + size - 8, from + size - 8)) ? nullptr : to + size;
  }
  if (size >= 4 && size < 8) {
    const std::uint64_t both = move_word<std::uint32_t>(to, from) | move_word<std::uint32_t>(to + size - 4, from + size - 4) << 32;
    return any_special(both, both) ? nullptr : to + size;
  }
  return write_other_plain(to, text);
}

}  // namespace margin::internal
