// exp, log and their relatives, the same bits on every machine: the C library chooses variants by CPU, these use only + - * / and
// bit operations. Used wherever a number can reach calibration state.
#pragma once

namespace margin {

// e^x. Error below 1 unit in the last place; +inf above 709.79, 0 below -745.14, NaN for NaN.
[[nodiscard]] double exp(double x);

// e^x - 1 without cancellation near 0. Error below 2 units in the last place.
[[nodiscard]] double expm1(double x);

// Natural logarithm. Error below 1 unit in the last place; -inf at 0, NaN below 0 and for NaN.
[[nodiscard]] double log(double x);

// log(1 + x) without cancellation near 0. Error below 2 units in the last place.
[[nodiscard]] double log1p(double x);

// 1 / (1 + e^-x), in [0, 1], without overflow.
[[nodiscard]] double sigmoid(double x);

// log(p / (1 - p)); -inf at 0 and +inf at 1, so callers clip first.
[[nodiscard]] double logit(double p);

// base^exponent for a whole exponent, by squaring.
[[nodiscard]] constexpr double power(double base, unsigned exponent) {
  double result = 1.0;
  while (exponent != 0) {
    if ((exponent & 1U) != 0) result *= base;
    base *= base;
    exponent >>= 1U;
  }
  return result;
}

[[nodiscard]] constexpr double clip(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
[[nodiscard]] constexpr double clip01(double x) { return clip(x, 0.0, 1.0); }

}  // namespace margin
