// Metrics that look only at the order of the probabilities: AUROC and the risk-coverage curve.
#include <algorithm>

#include "margin/metric.h"
#include "metric/rows.h"

namespace margin {

using internal::Level;

std::optional<double> auroc(Predictions rows) {
  internal::check_rows(rows);
  double right = 0.0;  // plain sums over levels in rising order: the rows' own order is gone
  double wrong = 0.0;
  double won = 0.0;
  for (const Level& level : internal::levels(rows)) {
    const double level_wrong = level.count - level.outcomes;
    won += level.outcomes * (wrong + 0.5 * level_wrong);
    right += level.outcomes;
    wrong += level_wrong;
  }
  if (right == 0.0 || wrong == 0.0) return std::nullopt;
  return won / (right * wrong);
}

std::optional<RiskCoverage> risk_coverage(Predictions rows) {
  internal::check_rows(rows);
  if (rows.size() == 0) return std::nullopt;
  std::vector<Level> falling = internal::levels(rows);
  std::reverse(falling.begin(), falling.end());
  const auto n = static_cast<double>(rows.size());
  RiskCoverage result;
  double answered = 0.0;
  double errors = 0.0;
  double risks = 0.0;
  for (const Level& level : falling) {
    const double error_rate = (level.count - level.outcomes) / level.count;
    for (double k = 1.0; k <= level.count; k += 1.0) risks += (errors + k * error_rate) / (answered + k);
    answered += level.count;
    errors += level.count - level.outcomes;
    result.curve.push_back({.threshold = level.probability, .coverage = answered / n, .risk = errors / answered});
  }
  result.area = risks / n;
  return result;
}

}  // namespace margin
