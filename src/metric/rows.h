// What the metrics of probabilities share: the check of their input, sums per bin, order by probability, quantiles.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/near_sum.h"
#include "margin/metric.h"

namespace margin::internal {

// Stops the program unless the spans are of one length and everything is in [0, 1] (which NaN is not).
void check_rows(Predictions rows);
void check_unit(std::span<const double> values);
void check_bins(int bins);

struct BinSums {
  std::size_t count = 0;
  NearSum probabilities;
  NearSum outcomes;

  void add(double probability, double outcome) {
    ++count;
    probabilities.add(probability);
    outcomes.add(outcome);
  }
  [[nodiscard]] double absolute_error() const { return std::fabs(outcomes.value() - probabilities.value()); }
};

[[nodiscard]] std::vector<BinSums> equal_width_bins(Predictions rows, int bins);
// Sum of absolute errors over the number of rows, which is not 0.
[[nodiscard]] double ece_of(std::span<const BinSums> bins, std::size_t rows);

// Rows of one probability, merged.
struct Level {
  double probability = 0.0;
  double count = 0.0;
  double outcomes = 0.0;  // exact sum, rounded once
};
// By rising probability.
[[nodiscard]] std::vector<Level> levels(Predictions rows);

[[nodiscard]] double mean(std::span<const double> values);  // of an exact sum; values not empty

// The q-quantile of `values` by linear interpolation between order statistics. Sorts its argument; not empty, 0 <= q <= 1.
[[nodiscard]] double quantile(std::span<double> values, double q);

}  // namespace margin::internal
