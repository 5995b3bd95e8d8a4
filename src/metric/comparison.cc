// What follows from resamples: intervals, verdicts, p-values, Holm's correction.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "margin/bootstrap.h"
#include "metric/rows.h"

namespace margin {
namespace {

std::vector<double> defined(const Resampled& resampled) {
  std::vector<double> values;
  values.reserve(resampled.size());
  for (const std::optional<double>& value : resampled) {
    if (value) values.push_back(*value);
  }
  return values;
}

// Two-sided, as if the resampled differences were normal; 1 where they do not vary.
double normal_tail_p(const Resampled& differences) {
  const std::vector<double> values = defined(differences);
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  if (!(squares > 0.0)) return 1.0;
  return std::erfc(std::fabs(mean) / std::sqrt(2.0 * squares / n));
}

}  // namespace

std::optional<Interval> percentile_interval(const Resampled& resampled) {
  std::vector<double> values = defined(resampled);
  if (values.empty()) return std::nullopt;
  return Interval{.low = internal::quantile(values, 0.025), .high = internal::quantile(values, 0.975)};
}

Resampled gap_closed(const Resampled& ours, const Resampled& base, const Resampled& oracle) {
  MARGIN_CHECK(ours.size() == base.size() && ours.size() == oracle.size(), "all are of the same resamples");
  Resampled gaps(ours.size());
  for (std::size_t r = 0; r < gaps.size(); ++r) {
    if (ours[r] && base[r] && oracle[r]) gaps[r] = GapClosed{.ours = *ours[r], .base = *base[r], .oracle = *oracle[r]}.value();
  }
  return gaps;
}

Difference paired_difference(const Resampled& a, const Resampled& b, Better better) {
  MARGIN_CHECK(a.size() == b.size(), "both are of the same resamples");
  Resampled differences(a.size());
  std::size_t counted = 0;
  std::size_t not_above = 0;
  std::size_t not_below = 0;
  for (std::size_t r = 0; r < a.size(); ++r) {
    if (!a[r] || !b[r]) continue;
    const double difference = *a[r] - *b[r];
    differences[r] = difference;
    ++counted;
    not_above += difference <= 0.0 ? 1 : 0;
    not_below += difference >= 0.0 ? 1 : 0;
  }
  Difference result{.interval = percentile_interval(differences)};
  if (!result.interval) return result;
  // The one is the observed sample itself: counting B resamples cannot claim less than about 2/B. Beyond that only a normal tail can.
  const std::size_t crossed = std::min(not_above, not_below);
  result.p_value = std::min(1.0, 2.0 * static_cast<double>(1 + crossed) / static_cast<double>(counted + 1));
  if (crossed == 0) result.p_value = std::min(result.p_value, normal_tail_p(differences));
  const bool below = result.interval->high < 0.0;
  const bool above = result.interval->low > 0.0;
  if (below || above) result.verdict = below == (better == Better::kLower) ? Verdict::kWin : Verdict::kLoss;
  return result;
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return p_values[x] < p_values[y]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0.0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double scaled = p_values[order[rank]] * static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, scaled));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace margin
