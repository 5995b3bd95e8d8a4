// copy_text: std::memcpy without a call for texts as short as names mostly are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace margin::internal {

// Returns the word that it moves.
template <class Word>
[[gnu::always_inline]] inline std::uint64_t move_word(void* to, const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  std::memcpy(to, &word, sizeof word);
  return word;
}

[[gnu::always_inline]] inline void copy_text(std::uint8_t* to, std::string_view text) {
  const char* const from = text.data();
  const std::size_t size = text.size();
  // The first word and the last, which may overlap.
  const auto move_both = [&]<class Word>(Word) {
    move_word<Word>(to, from);
    move_word<Word>(to + size - sizeof(Word), from + size - sizeof(Word));
  };
  if (size > 16) {
    std::memcpy(to, from, size);
  } else if (size >= 8) {
    move_both(std::uint64_t{});
  } else if (size >= 4) {
    move_both(std::uint32_t{});
  } else if (size > 0) {
    to[0] = static_cast<std::uint8_t>(from[0]);
    to[size / 2] = static_cast<std::uint8_t>(from[size / 2]);
    to[size - 1] = static_cast<std::uint8_t>(from[size - 1]);
  }
}

}  // namespace margin::internal
