#include "base/beta.h"

#include <cmath>

#include "base/pair_math.h"
#include "margin/math.h"

namespace margin::internal {
namespace {

// x Gamma(x) = Gamma(x + 1): Gamma(x) = Gamma(far) / factor with far >= 10.
struct Shifted {
  explicit Shifted(double x) : far(x) {
    for (; far < 10.0; far += 1.0) factor *= far;
  }

  double far;
  double factor = 1.0;
};

// ln Gamma(x) by Stirling's series, for x >= 10 and its logarithm.
template <class V>
V log_gamma(V x, V log_x) {
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  const V r = 1.0 / (x * x);
  const V series = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r * (1.0 / 1188 - r * (691.0 / 360360)))))) / x;
  return (x - 0.5) * log_x - x + kHalfLogTwoPi + series;
}

// -ln B(a, b) = ln Gamma(a + b) - ln Gamma(a) - ln Gamma(b).
double log_scale(double a, double b) {
  const Shifted of_a(a);
  const Shifted of_b(b);
  const Shifted of_sum(a + b);
  const Pair far = {of_a.far, of_b.far};
  const Pair parts = log_gamma(far, log(far)) - log(Pair{of_a.factor, of_b.factor});
  const Pair sum_logs = log(Pair{of_sum.far, of_sum.factor});
  return log_gamma(of_sum.far, sum_logs[0]) - sum_logs[1] - parts[0] - parts[1];
}

Pair away_from_0(Pair x) {
  constexpr double kTiny = 1e-300;
  const PairMask tiny = absolute(x) < kTiny;
  if ((tiny[0] | tiny[1]) == 0) [[likely]]
    return x;  // which then waits for no choice
  return tiny ? both(kTiny) : x;
}

// Lentz's evaluation of the continued fraction of I_x(a, b); converges fast for x < (a + 1)/(a + b + 2).
Pair fraction(Pair a, Pair b, Pair x) {
  constexpr double kStepsMax = 100'000;
  const Pair sum = a + b;
  Pair c = both(1.0);
  Pair d = 1.0 / away_from_0(1.0 - sum * x / (a + 1.0));
  Pair h = d;
  Pair result = d;
  PairMask converged = {};
  for (double m = 1.0; m < kStepsMax; m += 1.0) {
    const Pair step = both(m);
    const Pair place = a + both(2.0 * m);
    const Pair even = step * (b - step) * x / ((place - 1.0) * place);
    d = 1.0 / away_from_0(1.0 + even * d);
    c = away_from_0(1.0 + even / c);
    h *= d * c;
    const Pair odd = -(a + step) * (sum + step) * x / (place * (place + 1.0));
    d = 1.0 / away_from_0(1.0 + odd * d);
    c = away_from_0(1.0 + odd / c);
    const Pair change = d * c;
    h *= change;
    result = converged ? result : h;
    converged |= absolute(change - 1.0) < 1e-15;
    if (all(converged)) break;
  }
  return result;
}

// To [-1, 1]; NaN stays.
Pair clipped(Pair x) { return x < -1.0 ? both(-1.0) : x > 1.0 ? both(1.0) : x; }

Pair square_root(Pair x) { return Pair{std::sqrt(x[0]), std::sqrt(x[1])}; }

// z with P(Z <= z) = p for a standard normal Z, to 0.0005 (Abramowitz and Stegun 26.2.23).
Pair near_normal_quantiles(Pair p) {
  const PairMask lower = p < 0.5;
  const Pair t = square_root(-2.0 * log(lower ? p : 1.0 - p));
  const Pair z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return lower ? -z : z;
}

}  // namespace

Beta::Beta(double a, double b) : a_(a), b_(b), log_scale_(log_scale(a, b)) {}

double Beta::cdf(double x) const {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  return cdf(both(x), front(both(x)))[0];
}

Pair Beta::front(Pair x) const { return exp(log_scale_ + a_ * log(x) + b_ * log1p(-x)); }

Pair Beta::cdf(Pair x, Pair front) const {
  const PairMask lower = x < (a_ + 1.0) / (a_ + b_ + 2.0);
  const Pair a = lower ? both(a_) : both(b_);
  const Pair b = lower ? both(b_) : both(a_);
  const Pair tail = front * fraction(a, b, lower ? x : 1.0 - x) / a;
  return lower ? tail : 1.0 - tail;
}

// The logarithm of the distance w from an end with w^power / (power B(a, b)) = p: what the density's power law there makes of p.
Pair Beta::log_of_start(Pair p, double power) const { return (log(power * p) - log_scale_) / power; }

// To about three digits: Abramowitz and Stegun 26.5.22. Where the density is infinite at an end, the first terms of the series at the
// nearer one, which mostly leave a single step to go.
Pair Beta::near_quantiles(Pair p) const {
  if (a_ >= 1.0 && b_ >= 1.0) {
    const Pair z = near_normal_quantiles(p);
    const double of_a = 1.0 / (2.0 * a_ - 1.0);
    const double of_b = 1.0 / (2.0 * b_ - 1.0);
    const double h = 2.0 / (of_a + of_b);
    const Pair lambda = (z * z - 3.0) / 6.0;
    const Pair w = -z * square_root(h + lambda) / h - (of_b - of_a) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
    return a_ / (a_ + b_ * exp(2.0 * w));
  }
  const Pair from_0 = log_of_start(p, a_);
  const Pair from_1 = log_of_start(1.0 - p, b_);
  const PairMask lower = from_0 < from_1;
  const Pair w = exp(lower ? from_0 : from_1);
  const Pair a = lower ? both(a_) : both(b_);
  const Pair b = lower ? both(b_) : both(a_);
  // x = w + second w^2 + third w^3 + ..., turned around term by term.
  const Pair second = (b - 1.0) / (a + 1.0);
  const Pair third = (b - 1.0) * (a * a + 3.0 * a * b - a + 5.0 * b - 4.0) / (2.0 * (a + 1.0) * (a + 1.0) * (a + 2.0));
  const Pair distance = w * (1.0 + w * (second + w * third));
  return lower ? distance : 1.0 - distance;
}

Pair Beta::quantiles(Pair p) const {
  // Halley's steps inside a bracket; where one would leave it, the bracket is halved. The error after a step is about the cube of the step,
  // so after one this small beside the scale on which the density changes there is nothing left to gain.
  constexpr double kLastStep = 1e-4;
  constexpr double kLeastBracket = 1e-12;
  const double deviation = std::sqrt(a_ * b_ / (a_ + b_ + 1.0)) / (a_ + b_);
  Pair low = both(0.0);
  Pair high = both(1.0);
  Pair x = near_quantiles(p);
  x = ((x > 0.0) & (x < 1.0)) ? x : both(a_ / (a_ + b_));
  PairMask found = {};
  for (int i = 0; i < 200 && !all(found); ++i) {
    const Pair front = this->front(x);
    const Pair miss = cdf(x, front) - p;
    const PairMask short_of_p = miss < 0.0;
    low = short_of_p ? x : low;
    high = short_of_p ? high : x;
    const Pair newton = miss * x * (1.0 - x) / front;
    const Pair bend = newton * ((a_ - 1.0) / x - (b_ - 1.0) / (1.0 - x));
    const Pair step = newton / (1.0 - 0.5 * clipped(bend));
    const Pair least = kLastStep * smaller(smaller(both(deviation), x), 1.0 - x);
    const PairMask last = absolute(step) <= least;
    const Pair next = x - step;
    const PairMask inside = (next > low) & (next < high);
    const Pair taken = last ? larger(smaller(next, high), low) : inside ? next : 0.5 * (low + high);
    x = found ? x : taken;
    found |= last | (high - low <= kLeastBracket);
  }
  return x;
}

}  // namespace margin::internal
