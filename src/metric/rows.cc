#include "metric/rows.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include "base/check.h"

namespace margin {
namespace internal {

void check_unit(std::span<const double> values) {
  // By bits and without an early end, so that the loop is of vectors: a number in [0, 1] has neither its own sign nor that of the
  // difference set. What looks bad is looked at again: it may be -0.
  constexpr auto kOne = std::bit_cast<std::uint64_t>(1.0);
  std::uint64_t signs = 0;
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    signs |= bits | (kOne - bits);
  }
  if (signs >> 63 == 0) return;
  for (const double value : values) MARGIN_CHECK(value >= 0.0 && value <= 1.0, "probabilities and outcomes lie in [0, 1]");
}

void check_rows(Predictions rows) {
  MARGIN_CHECK(rows.probabilities.size() == rows.outcomes.size(), "every row has a probability and an outcome");
  check_unit(rows.probabilities);
  check_unit(rows.outcomes);
}

void check_bins(int bins) { MARGIN_CHECK(bins >= 1, "a metric needs at least one bin"); }

std::vector<BinSums> equal_width_bins(Predictions rows, int bins) {
  check_bins(bins);
  std::vector<BinSums> sums(static_cast<std::size_t>(bins));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    sums[static_cast<std::size_t>(band_of(rows.probabilities[r], bins))].add(rows.probabilities[r], rows.outcomes[r]);
  }
  return sums;
}

double ece_of(std::span<const BinSums> bins, std::size_t rows) {
  double error = 0.0;
  for (const BinSums& bin : bins) error += bin.absolute_error();
  return error / static_cast<double>(rows);
}

std::vector<Level> levels(Predictions rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows.probabilities[a] < rows.probabilities[b]; });
  std::vector<Level> merged;
  for (std::size_t i = 0; i < order.size();) {
    const double probability = rows.probabilities[order[i]];
    ExactSum outcomes;
    const std::size_t first = i;
    for (; i < order.size() && rows.probabilities[order[i]] == probability; ++i) outcomes.add(rows.outcomes[order[i]]);
    merged.push_back({probability, static_cast<double>(i - first), outcomes.value()});
  }
  return merged;
}

double mean(std::span<const double> values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum.value() / static_cast<double>(values.size());
}

double quantile(std::span<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= values.size()) return values.back();
  return values[below] + (position - static_cast<double>(below)) * (values[below + 1] - values[below]);
}

}  // namespace internal

std::vector<ModelPredictions> split_by_model(Predictions rows, std::span<const ModelId> models) {
  internal::check_rows(rows);
  MARGIN_CHECK(models.size() == rows.size(), "every row has a model");
  std::vector<ModelPredictions> split;
  std::vector<std::size_t> place(models.empty() ? 0 : std::size_t{*std::max_element(models.begin(), models.end())} + 1);
  for (const ModelId model : models) ++place[model];
  for (std::size_t model = 0; model < place.size(); ++model) {
    if (place[model] == 0) continue;
    split.push_back({.model = static_cast<ModelId>(model), .probabilities = {}, .outcomes = {}});
    split.back().probabilities.reserve(place[model]);
    split.back().outcomes.reserve(place[model]);
    place[model] = split.size() - 1;
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    ModelPredictions& own = split[place[models[r]]];
    own.probabilities.push_back(rows.probabilities[r]);
    own.outcomes.push_back(rows.outcomes[r]);
  }
  return split;
}

}  // namespace margin
