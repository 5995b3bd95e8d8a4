#include "margin/math.h"

#include <bit>
#include <cstdint>
#include <limits>

namespace margin {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// ln 2 in two pieces: the first has 21 zero bits at its end, so its product with any exponent is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;

double scale(double x, int exponent) {
  // In two steps, so that a subnormal result is rounded once and 2^1024 is never formed.
  const int half = exponent / 2;
  const auto power_of_two = [](int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); };
  return x * power_of_two(half) * power_of_two(exponent - half);
}

// e^r - 1 - r for |r| <= ln(2)/2: the series from r^2/2 to r^14/14!, whose remainder is below 2^-58.
double exp_tail(double r) {
  constexpr double kInverseFactorial[] = {
      1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,          1.0 / 5040,         1.0 / 40320,
      1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0, 1.0 / 87178291200.0};
  double sum = 0.0;
  for (int i = 12; i >= 0; --i) sum = sum * r + kInverseFactorial[i];
  return sum * r * r;
}

struct Reduced {
  int k;        // x = k ln 2 + high + low
  double high;  // the rounded remainder
  double low;   // what rounding it lost
};

Reduced reduce(double x) {
  const double scaled = x * kLog2E;
  const int k = static_cast<int>(scaled + (scaled < 0 ? -0.5 : 0.5));
  const double exact = x - k * kLn2High;
  const double correction = k * kLn2Low;
  const double high = exact - correction;
  return {k, high, (exact - high) - correction};
}

// log(1 + f) = 2 atanh(f / (2 + f)), written as f - (f^2/2 - s (f^2/2 + R)) so that the leading term is exact;
// R = sum of 2 s^2k / (2k + 1), k >= 1. `low` is what is missing from f. For 1 + f in [sqrt(1/2), sqrt(2)]: s^2 <= 0.0295.
struct LogParts {
  double high, low;
};
LogParts log_near_one(double f, double f_low) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  double series = 0.0;
  for (int i = 12; i >= 1; --i) series = (series + 2.0 / (2 * i + 1)) * z;
  const double half_square = 0.5 * f * f;
  return {f, s * (half_square + series) - half_square + f_low / (1.0 + f)};
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
  if (mantissa >= kSqrt2) {
    mantissa *= 0.5;
    ++exponent;
  }
  return {exponent, mantissa};
}

double join(int exponent, LogParts parts) {
  if (exponent == 0) return parts.high + parts.low;
  return exponent * kLn2High + (parts.high + (parts.low + exponent * kLn2Low));
}

}  // namespace

double exp(double x) {
  if (!(x == x)) return x;
  if (x > 709.782712893384) return kInfinity;
  if (x < -745.1332191019412) return 0.0;
  const Reduced r = reduce(x);
  return scale(1.0 + (r.high + (exp_tail(r.high) + r.low * (1.0 + r.high))), r.k);
}

double expm1(double x) {
  if (!(x == x)) return x;
  if (x > 709.782712893384) return kInfinity;
  if (x < -40.0) return -1.0;
  const Reduced r = reduce(x);
  const double tail = r.high + (exp_tail(r.high) + r.low * (1.0 + r.high));
  if (r.k == 0) return tail;
  if (r.k > 60) return exp(x) - 1.0;
  const double two_k = scale(1.0, r.k);
  return (two_k - 1.0) + tail * two_k;
}

double log(double x) {
  if (!(x == x) || x < 0.0) return kNaN;
  if (x == 0.0) return -kInfinity;
  if (x == kInfinity) return x;
  const Split parts = split(x);
  return join(parts.exponent, log_near_one(parts.mantissa - 1.0, 0.0));
}

double log1p(double x) {
  if (!(x == x) || x < -1.0) return kNaN;
  if (x == -1.0) return -kInfinity;
  if (x == kInfinity) return x;
  if (x > kSqrt2 * 0.5 - 1.0 && x < kSqrt2 - 1.0) {
    const LogParts parts = log_near_one(x, 0.0);
    return parts.high + parts.low;
  }
  // 1 + x rounds; what it lost goes on as the low part.
  const double sum = 1.0 + x;
  const double lost = x > 1.0 ? 1.0 - (sum - x) : x - (sum - 1.0);
  const Split parts = split(sum);
  return join(parts.exponent, log_near_one(parts.mantissa - 1.0, scale(lost, -parts.exponent)));
}

double sigmoid(double x) {
  if (x >= 0.0) return 1.0 / (1.0 + exp(-x));
  const double e = exp(x);
  return e / (1.0 + e);
}

double logit(double p) { return log(p / (1.0 - p)); }

}  // namespace margin
