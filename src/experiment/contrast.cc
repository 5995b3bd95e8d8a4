#include "experiment/contrast.h"

#include <algorithm>
#include <cmath>

#include "experiment/score.h"

namespace margin::experiment {
namespace {

// Quantiles of the normal distribution: 97.5% for a two-sided 95% interval, 80% for the power.
constexpr double kTwoSided95 = 1.959963984540054;
constexpr double kPower80 = 0.8416212335729143;
constexpr double kTasksMax = 1e9;

void judge(Contrast& contrast, const ContrastRules& rules) {
  if (!contrast.difference || !contrast.difference->interval) return;
  const double sign = rules.better == Better::kHigher ? 1.0 : -1.0;
  const double low = sign * contrast.difference->interval->low, high = sign * contrast.difference->interval->high;
  contrast.best_gain = std::max({low, high, sign * contrast.difference->value});
  if (contrast.tasks < rules.tasks_min) {
    contrast.answer = Answer::kTooFew;
  } else if (std::min(low, high) > 0.0) {
    contrast.answer = Answer::kHelps;
  } else if (std::max(low, high) < 0.0) {
    contrast.answer = Answer::kHurts;
  } else {
    contrast.answer = contrast.best_gain < rules.effect ? Answer::kNoGain : Answer::kUnknown;
  }
}

}  // namespace

Resampled minus(const Resampled& a, const Resampled& b) {
  Resampled differences(std::min(a.size(), b.size()));
  for (std::size_t r = 0; r < differences.size(); ++r) {
    if (a[r] && b[r]) differences[r] = *a[r] - *b[r];
  }
  return differences;
}

std::optional<double> tasks_needed(double standard_error, std::size_t tasks, double effect, std::size_t tasks_min) {
  if (!(standard_error > 0.0)) return std::nullopt;
  const double ratio = (kTwoSided95 + kPower80) * standard_error / std::fabs(effect);
  const double needed = std::ceil(static_cast<double>(tasks) * ratio * ratio);
  if (!(needed <= kTasksMax)) return std::nullopt;
  return std::max(needed, static_cast<double>(tasks_min));
}

Contrast contrast_of(Measured ours, Measured base, std::size_t tasks, const ContrastRules& rules) {
  Contrast contrast{.ours = std::move(ours), .base = std::move(base), .tasks = tasks};
  contrast.difference = difference_of(contrast.ours, contrast.base);
  contrast.standard_error = spread_of(minus(contrast.ours.resampled, contrast.base.resampled)).sd;
  judge(contrast, rules);
  if (!contrast.difference || !contrast.standard_error || tasks == 0) return contrast;
  contrast.tasks_for_observed = tasks_needed(*contrast.standard_error, tasks, contrast.difference->value, rules.tasks_min);
  contrast.tasks_for_effect = tasks_needed(*contrast.standard_error, tasks, rules.effect, rules.tasks_min);
  return contrast;
}

}  // namespace margin::experiment
