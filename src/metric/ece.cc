// Binned calibration errors: equal-width, per model, equal-mass, debiased, and the band of a perfect forecaster.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "margin/metric.h"
#include "margin/random.h"
#include "metric/rows.h"

namespace margin {

using internal::BinSums;

namespace {

// So many models have their bins side by side in the cache; of more, the rows are gathered first.
constexpr ModelId kModelsTogether = 64;

bool few_models(std::span<const ModelId> models) {
  return std::all_of(models.begin(), models.end(), [](ModelId model) { return model < kModelsTogether; });
}

}  // namespace

std::optional<double> ece(Predictions rows, int bins) {
  internal::check_rows(rows);
  internal::check_bins(bins);
  if (rows.size() == 0) return std::nullopt;
  return internal::ece_of(internal::equal_width_bins(rows, bins), rows.size());
}

std::optional<double> ece_per_model(Predictions rows, std::span<const ModelId> models, int bins) {
  std::vector<double> errors;
  if (!few_models(models)) {
    for (const ModelPredictions& own : split_by_model(rows, models)) errors.push_back(*ece(own.view(), bins));
  } else {
    internal::check_rows(rows);
    internal::check_bins(bins);
    MARGIN_CHECK(models.size() == rows.size(), "every row has a model");
    struct Own {
      std::size_t rows = 0;
      std::vector<BinSums> bins;
    };
    std::vector<Own> owns(kModelsTogether);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      Own& own = owns[models[r]];
      if (++own.rows == 1) own.bins.resize(static_cast<std::size_t>(bins));
      own.bins[static_cast<std::size_t>(band_of(rows.probabilities[r], bins))].add(rows.probabilities[r], rows.outcomes[r]);
    }
    for (const Own& own : owns) {
      if (own.rows > 0) errors.push_back(internal::ece_of(own.bins, own.rows));
    }
  }
  if (errors.empty()) return std::nullopt;
  return internal::mean(errors);
}

std::optional<double> equal_mass_ece(Predictions rows, int bins) {
  internal::check_rows(rows);
  internal::check_bins(bins);
  const std::size_t n = rows.size();
  if (n == 0) return std::nullopt;
  std::vector<double> sorted(rows.probabilities.begin(), rows.probabilities.end());
  std::sort(sorted.begin(), sorted.end());
  // Inner edge k is the smallest p with at least k/bins of the rows at or below it; a row belongs to the first bin whose edge it does
  // not exceed.
  const auto bin_count = static_cast<std::size_t>(bins);
  std::vector<double> edges;
  for (std::size_t k = 1; k < bin_count; ++k) edges.push_back(sorted[(k * n + bin_count - 1) / bin_count - 1]);
  std::vector<BinSums> sums(bin_count);
  for (std::size_t r = 0; r < n; ++r) {
    const auto edge = std::lower_bound(edges.begin(), edges.end(), rows.probabilities[r]);
    sums[static_cast<std::size_t>(edge - edges.begin())].add(rows.probabilities[r], rows.outcomes[r]);
  }
  return internal::ece_of(sums, n);
}

std::optional<DebiasedEce> debiased_ece(Predictions rows, int bins) {
  internal::check_rows(rows);
  internal::check_bins(bins);
  struct Residuals {
    double count = 0.0;
    ExactSum sum;
    ExactSum squares;
  };
  std::vector<Residuals> residuals(static_cast<std::size_t>(bins));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Residuals& bin = residuals[static_cast<std::size_t>(band_of(rows.probabilities[r], bins))];
    const double residual = rows.outcomes[r] - rows.probabilities[r];
    bin.count += 1.0;
    bin.sum.add(residual);
    bin.squares.add(residual * residual);
  }
  double squared = 0.0;
  double counted = 0.0;
  for (const Residuals& bin : residuals) {
    if (bin.count < 2.0) continue;
    const double mean = bin.sum.value() / bin.count;
    // The squared mean overestimates by the mean's own variance; residuals rather than outcomes, since p varies inside a bin.
    const double variance_of_mean = (bin.squares.value() / bin.count - mean * mean) / (bin.count - 1.0);
    squared += bin.count * (mean * mean - variance_of_mean);
    counted += bin.count;
  }
  if (counted == 0.0) return std::nullopt;
  squared /= counted;
  return DebiasedEce{.squared = squared, .root_mean_square = std::sqrt(std::max(0.0, squared))};
}

std::optional<EceBand> ece_band(std::span<const double> probabilities, const EceBandOptions& options) {
  internal::check_unit(probabilities);
  internal::check_bins(options.bins);
  MARGIN_CHECK(options.simulations >= 1, "a band needs at least one simulation");
  if (probabilities.empty()) return std::nullopt;
  const auto bins = static_cast<std::size_t>(options.bins);
  std::vector<std::uint32_t> bin_of(probabilities.size());
  std::vector<ExactSum> expected(bins);
  for (std::size_t r = 0; r < probabilities.size(); ++r) {
    bin_of[r] = static_cast<std::uint32_t>(band_of(probabilities[r], options.bins));
    expected[bin_of[r]].add(probabilities[r]);
  }
  std::vector<double> sums;
  for (const ExactSum& sum : expected) sums.push_back(sum.value());

  std::vector<double> errors;
  std::vector<double> hits(bins);  // whole numbers: plain sums are exact
  for (int simulation = 0; simulation < options.simulations; ++simulation) {
    Random random = Random::stream(options.seed, static_cast<std::uint64_t>(simulation));
    std::fill(hits.begin(), hits.end(), 0.0);
    for (std::size_t r = 0; r < probabilities.size(); ++r) hits[bin_of[r]] += random.chance(probabilities[r]) ? 1.0 : 0.0;
    double error = 0.0;
    for (std::size_t b = 0; b < bins; ++b) error += std::fabs(hits[b] - sums[b]);
    errors.push_back(error / static_cast<double>(probabilities.size()));
  }
  const double mean = internal::mean(errors);
  return EceBand{.low = internal::quantile(errors, 0.025), .mean = mean, .high = internal::quantile(errors, 0.975)};
}

}  // namespace margin
