// Characters of a text, looked at 16 at a time. Used where much is read: bodies and heads of requests.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace margin::internal {

// The compiler's own vector types, which every machine has in one way or another.
using Chars = std::uint8_t __attribute__((vector_size(16)));
using SignedChars = std::int8_t __attribute__((vector_size(16)));

inline Chars chars_at(const char* from) {
  Chars chars;
  std::memcpy(&chars, from, sizeof chars);
  return chars;
}

// 255 where one is more than `low` and ASCII, 0 elsewhere. Those beyond ASCII are below 0.
inline Chars above(Chars chars, char low) { return reinterpret_cast<Chars>(reinterpret_cast<SignedChars>(chars) > low); }

// How many stand before the first that is not marked by 255, but by 0.
inline std::size_t leading(Chars marked) {
#ifdef __SSE2__
  const auto bits = static_cast<unsigned>(_mm_movemask_epi8(reinterpret_cast<__m128i>(marked)));
  return static_cast<std::size_t>(__builtin_ctz(~bits));  // of what is never 0, which need not be looked at
#else
  using Halves = std::uint64_t __attribute__((vector_size(16)));
  const auto halves = reinterpret_cast<Halves>(marked);
  const auto ones = [](std::uint64_t half) {
    return static_cast<std::size_t>(std::endian::native == std::endian::little ? std::countr_one(half) : std::countl_one(half)) / 8;
  };
  return ones(halves[0]) < 8 ? ones(halves[0]) : 8 + ones(halves[1]);
#endif
}

}  // namespace margin::internal
