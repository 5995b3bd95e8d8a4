#include "margin/math.h"

#include <bit>
#include <cstdint>
#include <limits>

#include "base/series.h"

namespace margin {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
double scale(double x, int exponent) {
  // In two steps, so that a subnormal result is rounded once and 2^1024 is never formed.
  const int half = exponent / 2;
  const auto power_of_two = [](int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); };
  return x * power_of_two(half) * power_of_two(exponent - half);
}

int times_ln2(double x) {
  const double scaled = x * internal::kLog2E;
  return static_cast<int>(scaled + (scaled < 0 ? -0.5 : 0.5));
}

struct Split {
  int exponent;
  double mantissa;  // in [sqrt(1/2), sqrt(2))
};
Split split(double x) {
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    exponent = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double mantissa = std::bit_cast<double>((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
  if (mantissa >= internal::kSqrt2) {
    mantissa *= 0.5;
    ++exponent;
  }
  return {exponent, mantissa};
}

}  // namespace

double exp(double x) {
  if (!(x == x)) return x;
  if (x > 709.782712893384) return kInfinity;
  if (x < -745.1332191019412) return 0.0;
  const int k = times_ln2(x);
  return scale(1.0 + expm1_of(internal::reduced(x, k)), k);
}

double expm1(double x) {
  if (!(x == x)) return x;
  if (x > 709.782712893384) return kInfinity;
  if (x < -40.0) return -1.0;
  const int k = times_ln2(x);
  const double tail = expm1_of(internal::reduced(x, k));
  if (k == 0) return tail;
  if (k > 60) return exp(x) - 1.0;
  const double two_k = scale(1.0, k);
  return (two_k - 1.0) + tail * two_k;
}

double log(double x) {
  if (!(x == x) || x < 0.0) return kNaN;
  if (x == 0.0) return -kInfinity;
  if (x == kInfinity) return x;
  const Split parts = split(x);
  return internal::log_joined(parts.exponent, internal::log_near_one(parts.mantissa - 1.0));
}

double log1p(double x) {
  if (!(x == x) || x < -1.0) return kNaN;
  if (x == -1.0) return -kInfinity;
  if (x == kInfinity) return x;
  if (x > internal::kSqrt2 * 0.5 - 1.0 && x < internal::kSqrt2 - 1.0) {
    const internal::LogParts parts = internal::log_near_one(x, 0.0);
    return parts.high + parts.low;
  }
  // 1 + x rounds; what it lost goes on as the low part.
  const double sum = 1.0 + x;
  const double lost = x > 1.0 ? 1.0 - (sum - x) : x - (sum - 1.0);
  const Split parts = split(sum);
  return internal::log_joined(parts.exponent, internal::log_near_one(parts.mantissa - 1.0, scale(lost, -parts.exponent)));
}

double sigmoid(double x) {
  if (x >= 0.0) return 1.0 / (1.0 + exp(-x));
  const double e = exp(x);
  return e / (1.0 + e);
}

double logit(double p) { return log(p / (1.0 - p)); }

}  // namespace margin
