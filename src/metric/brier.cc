// The Brier score, its decomposition over bins, and sharpness.
#include <algorithm>

#include "margin/metric.h"
#include "metric/rows.h"

namespace margin {
namespace {

// Sums from which means, variances and the covariance follow.
struct Moments {
  double count = 0.0;
  ExactSum p, o, pp, oo, po;

  void add(double probability, double outcome) {
    count += 1.0;
    p.add(probability);
    o.add(outcome);
    pp.add(probability * probability);
    oo.add(outcome * outcome);
    po.add(probability * outcome);
  }
  [[nodiscard]] double mean_p() const { return p.value() / count; }
  [[nodiscard]] double mean_o() const { return o.value() / count; }
  // Rounding may leave a variance a hair below zero.
  [[nodiscard]] double variance_p() const { return std::max(0.0, pp.value() / count - mean_p() * mean_p()); }
  [[nodiscard]] double variance_o() const { return std::max(0.0, oo.value() / count - mean_o() * mean_o()); }
  [[nodiscard]] double covariance() const { return po.value() / count - mean_p() * mean_o(); }
};

}  // namespace

std::optional<double> brier(Predictions rows) {
  internal::check_rows(rows);
  if (rows.size() == 0) return std::nullopt;
  internal::NearSum sum;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double error = rows.probabilities[r] - rows.outcomes[r];
    sum.add(error * error);
  }
  return sum.value() / static_cast<double>(rows.size());
}

std::optional<BrierParts> brier_parts(Predictions rows, int bins) {
  internal::check_bins(bins);
  const std::optional<double> score = brier(rows);
  if (!score) return std::nullopt;
  Moments all;
  std::vector<Moments> inside(static_cast<std::size_t>(bins));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    all.add(rows.probabilities[r], rows.outcomes[r]);
    inside[static_cast<std::size_t>(band_of(rows.probabilities[r], bins))].add(rows.probabilities[r], rows.outcomes[r]);
  }
  BrierParts parts{.brier = *score, .uncertainty = all.variance_o()};
  for (const Moments& bin : inside) {
    if (bin.count == 0.0) continue;
    const double share = bin.count / all.count;
    const double error = bin.mean_p() - bin.mean_o();
    const double distance = bin.mean_o() - all.mean_o();
    parts.reliability += share * error * error;
    parts.resolution += share * distance * distance;
    parts.within_variance += share * bin.variance_p();
    parts.within_covariance += share * 2.0 * bin.covariance();
  }
  return parts;
}

std::optional<double> sharpness(std::span<const double> probabilities) {
  internal::check_unit(probabilities);
  if (probabilities.empty()) return std::nullopt;
  const double mean = internal::mean(probabilities);
  ExactSum squares;
  for (const double probability : probabilities) squares.add((probability - mean) * (probability - mean));
  return squares.value() / static_cast<double>(probabilities.size());
}

}  // namespace margin
