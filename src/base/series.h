// The series behind exp and log, for a double or a Pair: each element takes the same steps, so it has the same bits.
#pragma once

namespace margin::internal {

// ln 2 in two pieces: the first has 21 zero bits at its end, so its product with any exponent is exact.
inline constexpr double kLn2High = 0x1.62e42fee00000p-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;

// x = k ln 2 + high + low.
template <class V>
struct Reduced {
  V high;  // the rounded remainder
  V low;   // what rounding it lost
};
template <class V, class K>
[[nodiscard]] Reduced<V> reduced(V x, K k) {
  const V exact = x - k * kLn2High;
  const V correction = k * kLn2Low;
  const V high = exact - correction;
  return {high, (exact - high) - correction};
}

// e^r - 1 - r for |r| <= ln(2)/2: the series from r^2/2 to r^14/14!, whose remainder is below 2^-58.
template <class V>
[[nodiscard]] V exp_tail(V r) {
  constexpr double kInverseFactorial[] = {
      1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,          1.0 / 5040,         1.0 / 40320,
      1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0, 1.0 / 87178291200.0};
  V sum = V{} + kInverseFactorial[12];
  for (int i = 11; i >= 0; --i) sum = sum * r + kInverseFactorial[i];
  return sum * r * r;
}

// e^(high + low) - 1.
template <class V>
[[nodiscard]] V expm1_of(const Reduced<V>& r) {
  return r.high + (exp_tail(r.high) + r.low * (1.0 + r.high));
}

// log(1 + f) = 2 atanh(f / (2 + f)), written as f - (f^2/2 - s (f^2/2 + R)) so that the leading term is exact;
// R = sum of 2 s^2k / (2k + 1), k >= 1. For 1 + f in [sqrt(1/2), sqrt(2)]: s^2 <= 0.0295.
template <class V>
struct LogParts {
  V high;
  V low;
};
template <class V>
[[nodiscard]] LogParts<V> log_near_one(V f) {
  const V s = f / (2.0 + f);
  const V z = s * s;
  V series = z * (2.0 / 25);
  for (int i = 11; i >= 1; --i) series = (series + 2.0 / (2 * i + 1)) * z;
  const V half_square = 0.5 * f * f;
  return {f, s * (half_square + series) - half_square};
}
// `f_low` is what is missing from f.
template <class V>
[[nodiscard]] LogParts<V> log_near_one(V f, V f_low) {
  const LogParts<V> parts = log_near_one(f);
  return {parts.high, parts.low + f_low / (1.0 + f)};
}

// log(2^exponent (1 + f)).
template <class V, class K>
[[nodiscard]] V log_joined(K exponent, const LogParts<V>& parts) {
  return exponent * kLn2High + (parts.high + (parts.low + exponent * kLn2Low));
}

}  // namespace margin::internal
