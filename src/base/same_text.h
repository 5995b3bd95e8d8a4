// same_text: a == b without a call for texts as short as names mostly are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace margin::internal {

[[nodiscard, gnu::always_inline]] inline bool same_text(std::string_view a, std::string_view b) {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  // The first word and the last, which may overlap.
  const auto same_words = [&]<class Word>(Word) {
    const auto differs = [&](std::size_t at) {
      Word x;
      Word y;
      std::memcpy(&x, a.data() + at, sizeof x);
      std::memcpy(&y, b.data() + at, sizeof y);
      return x ^ y;
    };
    return (differs(0) | differs(size - sizeof(Word))) == 0;
  };
  if (size > 16) return a == b;
  if (size >= 8) return same_words(std::uint64_t{});
  if (size >= 4) return same_words(std::uint32_t{});
  return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}

}  // namespace margin::internal
