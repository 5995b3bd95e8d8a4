// The reliability table: what a reliability diagram draws.
#include <algorithm>
#include <cmath>

#include "margin/math.h"
#include "margin/metric.h"
#include "metric/rows.h"

namespace margin {
namespace {

constexpr double kNormal975 = 1.959963984540054;  // the 97.5% quantile of the standard normal distribution

}  // namespace

Interval wilson_interval(double mean, std::size_t count) {
  const auto n = static_cast<double>(count);
  const double z2 = kNormal975 * kNormal975;
  const double center = (mean + z2 / (2.0 * n)) / (1.0 + z2 / n);
  const double half = kNormal975 / (1.0 + z2 / n) * std::sqrt(mean * (1.0 - mean) / n + z2 / (4.0 * n * n));
  return {clip01(center - half), clip01(center + half)};
}

std::vector<ReliabilityBin> reliability_table(Predictions rows, int bins) {
  internal::check_rows(rows);
  internal::check_bins(bins);
  std::vector<ReliabilityBin> table;
  for (const internal::BinSums& sums : internal::equal_width_bins(rows, bins)) {
    const auto number = static_cast<double>(table.size());
    ReliabilityBin bin{.low = number / bins, .high = (number + 1.0) / bins, .count = sums.count};
    if (sums.count > 0) {
      bin.mean_probability = sums.probabilities.value() / static_cast<double>(sums.count);
      bin.mean_outcome = sums.outcomes.value() / static_cast<double>(sums.count);
      const Interval interval = wilson_interval(bin.mean_outcome, sums.count);
      bin.outcome_low = interval.low;
      bin.outcome_high = interval.high;
    }
    table.push_back(bin);
  }
  return table;
}

}  // namespace margin
