// exp, log and log1p of two numbers at once, for little more than the time of one. Each has the bits of margin/math.h.
#pragma once

#include "base/pair.h"
#include "margin/math.h"

namespace margin::internal {

[[nodiscard]] Pair exp(Pair x);
[[nodiscard]] Pair log(Pair x);
[[nodiscard]] Pair log1p(Pair x);

}  // namespace margin::internal
