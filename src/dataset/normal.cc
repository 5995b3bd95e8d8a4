#include "dataset/normal.h"

#include "margin/math.h"

namespace margin::dataset {
namespace {

constexpr double kTail = 8.3;  // beyond it the smaller tail is below half a unit in the last place of 1
constexpr double kInverseRootTwoPi = 0.3989422804014327;

}  // namespace

double normal_density(double x) { return kInverseRootTwoPi * exp(-0.5 * x * x); }

double normal_cdf(double x) {
  if (x < -kTail) return 0.0;
  if (x > kTail) return 1.0;
  // 1/2 + density(x) (x + x^3/3 + x^5/(3 5) + x^7/(3 5 7) + ...): all terms have one sign, so nothing cancels inside the series.
  double term = x;
  double sum = x;
  for (double odd = 3.0; sum + term != sum; odd += 2.0) {
    term *= x * x / odd;
    sum += term;
  }
  return clip01(0.5 + normal_density(x) * sum);
}

double normal_quantile(double p) {
  double low = -kTail;
  double high = kTail;
  while (high - low > 1e-13) {
    const double middle = 0.5 * (low + high);
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace margin::dataset
