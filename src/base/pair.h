// Pair: two doubles that take the same arithmetic, as one value. The compiler's own vector type: element by element, so the bits are those
// of scalar code on every machine.
#pragma once

#include <bit>

namespace margin::internal {

using Pair = double __attribute__((vector_size(16)));

[[nodiscard]] inline Pair both(double x) { return Pair{x, x}; }
// a < b ? a : b and a > b ? a : b, which are one instruction each where the compiler does not see it.
#ifdef __SSE2__
[[nodiscard]] inline Pair smaller(Pair a, Pair b) { return __builtin_ia32_minpd(a, b); }
[[nodiscard]] inline Pair larger(Pair a, Pair b) { return __builtin_ia32_maxpd(a, b); }
#else
[[nodiscard]] inline Pair smaller(Pair a, Pair b) { return a < b ? a : b; }
[[nodiscard]] inline Pair larger(Pair a, Pair b) { return a > b ? a : b; }
#endif
[[nodiscard]] inline Pair absolute(Pair x) {
  using Bits = unsigned long long __attribute__((vector_size(16)));
  return std::bit_cast<Pair>(std::bit_cast<Bits>(x) & ~(1ULL << 63));
}

// What a comparison tells of each; chooses as in `mask ? a : b`.
using PairMask = decltype(Pair{} < Pair{});

[[nodiscard]] inline bool all(PairMask mask) { return (mask[0] & mask[1]) != 0; }

}  // namespace margin::internal
