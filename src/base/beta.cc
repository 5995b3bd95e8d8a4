#include "base/beta.h"

#include <cmath>

#include "margin/math.h"

namespace margin::internal {
namespace {

// ln Gamma(x), x > 0: Stirling's series above 10, reached by x Gamma(x) = Gamma(x + 1).
double log_gamma(double x) {
  double shift = 0.0;
  for (; x < 10.0; x += 1.0) shift += log(x);
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  const double r = 1.0 / (x * x);
  const double series = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r * (1.0 / 1188 - r * (691.0 / 360360)))))) / x;
  return (x - 0.5) * log(x) - x + kHalfLogTwoPi + series - shift;
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

}  // namespace

double beta_cdf(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
  if (x < (a + 1.0) / (a + b + 2.0)) return front * fraction(a, b, x) / a;
  return 1.0 - front * fraction(b, a, 1.0 - x) / b;
}

double beta_quantile(double a, double b, double p) {
  // Newton's steps inside a bracket; where one would leave it, the bracket is halved.
  const double normaliser = log_gamma(a + b) - log_gamma(a) - log_gamma(b);
  double low = 0.0;
  double high = 1.0;
  double x = a / (a + b);
  for (int i = 0; i < 200 && high - low > 1e-12; ++i) {
    const double miss = beta_cdf(a, b, x) - p;
    (miss < 0.0 ? low : high) = x;
    const double density = exp(normaliser + (a - 1.0) * log(x) + (b - 1.0) * log1p(-x));
    double next = x - miss / density;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::fabs(next - x) < 1e-13) return next;
    x = next;
  }
  return x;
}

}  // namespace margin::internal
