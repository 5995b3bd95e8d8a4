#include "base/beta.h"

#include <algorithm>
#include <cmath>

#include "margin/math.h"

namespace margin::internal {
namespace {

// ln Gamma(x), x > 0: Stirling's series above 10, reached by x Gamma(x) = Gamma(x + 1).
double log_gamma(double x) {
  double shift = 1.0;
  for (; x < 10.0; x += 1.0) shift *= x;
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  const double r = 1.0 / (x * x);
  const double series = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r * (1.0 / 1188 - r * (691.0 / 360360)))))) / x;
  return (x - 0.5) * log(x) - x + kHalfLogTwoPi + series - (shift == 1.0 ? 0.0 : log(shift));
}

// Lentz's evaluation of the continued fraction of I_x(a, b); converges fast for x < (a + 1)/(a + b + 2).
double fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kStepsMax = 100'000;
  const auto away_from_0 = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  double c = 1.0;
  double d = 1.0 / away_from_0(1.0 - (a + b) * x / (a + 1.0));
  double h = d;
  for (int m = 1; m < kStepsMax; ++m) {
    const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    d = 1.0 / away_from_0(1.0 + even * d);
    c = away_from_0(1.0 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    d = 1.0 / away_from_0(1.0 + odd * d);
    c = away_from_0(1.0 + odd / c);
    h *= d * c;
    if (std::fabs(d * c - 1.0) < 1e-15) break;
  }
  return h;
}

// z with P(Z <= z) = p for a standard normal Z, to three digits (Abramowitz and Stegun 26.2.22).
double near_normal_quantile(double p) {
  const double t = std::sqrt(-2.0 * log(p < 0.5 ? p : 1.0 - p));
  const double z = t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + t * 0.04481));
  return p < 0.5 ? -z : z;
}

}  // namespace

Beta::Beta(double a, double b) : a_(a), b_(b), log_scale_(log_gamma(a + b) - log_gamma(a) - log_gamma(b)) {
  if (a_ >= 1.0 && b_ >= 1.0) return;
  low_part_ = exp(a_ * log(a_ / (a_ + b_))) / a_;
  parts_ = low_part_ + exp(b_ * log(b_ / (a_ + b_))) / b_;
}

double Beta::cdf(double x) const {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  return cdf(x, exp(log_scale_ + a_ * log(x) + b_ * log1p(-x)));
}

double Beta::cdf(double x, double front) const {
  if (x < (a_ + 1.0) / (a_ + b_ + 2.0)) return front * fraction(a_, b_, x) / a_;
  return 1.0 - front * fraction(b_, a_, 1.0 - x) / b_;
}

// To about three digits: Abramowitz and Stegun 26.5.22, or the nearer end's power law where the density is infinite at an end.
double Beta::near_quantile(double p) const {
  if (a_ >= 1.0 && b_ >= 1.0) {
    const double z = near_normal_quantile(p);
    const double of_a = 1.0 / (2.0 * a_ - 1.0);
    const double of_b = 1.0 / (2.0 * b_ - 1.0);
    const double h = 2.0 / (of_a + of_b);
    const double lambda = (z * z - 3.0) / 6.0;
    const double w = -z * std::sqrt(h + lambda) / h - (of_b - of_a) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
    return a_ / (a_ + b_ * exp(2.0 * w));
  }
  return p * parts_ < low_part_ ? exp(log(a_ * parts_ * p) / a_) : 1.0 - exp(log(b_ * parts_ * (1.0 - p)) / b_);
}

double Beta::quantile(double p) const {
  // Halley's steps inside a bracket; where one would leave it, the bracket is halved. The error after a step is about the cube of the step,
  // so after one this small beside the scale on which the density changes there is nothing left to gain.
  constexpr double kLastStep = 1e-4;
  const double deviation = std::sqrt(a_ * b_ / (a_ + b_ + 1.0)) / (a_ + b_);
  double low = 0.0;
  double high = 1.0;
  double x = near_quantile(p);
  if (!(x > 0.0 && x < 1.0)) x = a_ / (a_ + b_);
  for (int i = 0; i < 200 && high - low > 1e-12; ++i) {
    const double front = exp(log_scale_ + a_ * log(x) + b_ * log1p(-x));
    const double miss = cdf(x, front) - p;
    (miss < 0.0 ? low : high) = x;
    const double newton = miss * x * (1.0 - x) / front;
    const double bend = newton * ((a_ - 1.0) / x - (b_ - 1.0) / (1.0 - x));
    const double step = newton / (1.0 - 0.5 * clip(bend, -1.0, 1.0));
    if (std::fabs(step) <= kLastStep * std::min({deviation, x, 1.0 - x})) return clip(x - step, low, high);
    x -= step;
    if (!(x > low && x < high)) x = 0.5 * (low + high);
  }
  return x;
}

}  // namespace margin::internal
