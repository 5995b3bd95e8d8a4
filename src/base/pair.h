// Pair: two doubles that take the same arithmetic, as one value. The compiler's own vector type: element by element, so the bits are those
// of scalar code on every machine.
#pragma once

namespace margin::internal {

using Pair = double __attribute__((vector_size(16)));

[[nodiscard]] inline Pair both(double x) { return Pair{x, x}; }
[[nodiscard]] inline Pair smaller(Pair a, Pair b) { return a < b ? a : b; }
[[nodiscard]] inline Pair larger(Pair a, Pair b) { return a > b ? a : b; }

}  // namespace margin::internal
