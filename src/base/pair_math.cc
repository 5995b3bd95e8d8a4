#include "base/pair_math.h"

#include <bit>
#include <cstdint>
#include <limits>

#include "base/series.h"
#include "margin/math.h"

namespace margin::internal {
namespace {

using Bits = std::uint64_t __attribute__((vector_size(16)));
using Ints = std::int32_t __attribute__((vector_size(8)));

// 2^52: the bits of a double from here on end in those of its whole part.
constexpr double kWhole = 0x1p52;
constexpr auto kWholeBits = std::bit_cast<std::uint64_t>(kWhole);

struct Split {
  Pair exponent;  // whole numbers
  Pair mantissa;  // in [sqrt(1/2), sqrt(2))
};
// Of positive normal numbers.
Split split(Pair x) {
  const auto bits = std::bit_cast<Bits>(x);
  const Pair exponent = std::bit_cast<Pair>((bits >> 52) | kWholeBits) - (kWhole + 1023.0);
  const Pair mantissa = std::bit_cast<Pair>((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
  const PairMask large = mantissa >= kSqrt2;
  return {large ? exponent + 1.0 : exponent, large ? mantissa * 0.5 : mantissa};
}

// 2^k for whole k from -1022 to 1023.
Pair power_of_two(Pair k) { return std::bit_cast<Pair>(std::bit_cast<Bits>(k + (kWhole + 1023.0)) << 52); }

}  // namespace

Pair exp(Pair x) {
  // Where the result is normal. Beyond, at the ends and for NaN, each by itself.
  if (!all((x > -700.0) & (x < 700.0))) return Pair{margin::exp(x[0]), margin::exp(x[1])};
  const Pair scaled = x * kLog2E;
  const Pair near = scaled + (scaled < 0.0 ? both(-0.5) : both(0.5));
  const Pair k = __builtin_convertvector(__builtin_convertvector(near, Ints), Pair);
  return (1.0 + expm1_of(reduced(x, k))) * power_of_two(k);
}

Pair log(Pair x) {
  if (!all((x >= std::numeric_limits<double>::min()) & (x <= std::numeric_limits<double>::max())))
    return Pair{margin::log(x[0]), margin::log(x[1])};
  const Split parts = split(x);
  return log_joined(parts.exponent, log_near_one(parts.mantissa - 1.0));
}

Pair log1p(Pair x) {
  if (!all((x > -1.0) & (x < 1.0))) return Pair{margin::log1p(x[0]), margin::log1p(x[1])};
  // 1 + x rounds, unless x is small; what it lost goes on as the low part.
  const Pair sum = 1.0 + x;
  const Pair lost = x - (sum - 1.0);
  const Split parts = split(sum);
  const PairMask small = (x > kSqrt2 * 0.5 - 1.0) & (x < kSqrt2 - 1.0);
  const Pair f = small ? x : parts.mantissa - 1.0;
  const Pair f_low = small ? both(0.0) : lost * power_of_two(-parts.exponent);
  return log_joined(small ? both(0.0) : parts.exponent, log_near_one(f, f_low));
}

}  // namespace margin::internal
