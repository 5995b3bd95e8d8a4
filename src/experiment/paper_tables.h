// The sections of `margin experiment paper`: figures of the simulated cohort beside the published ones. Private to paper_report.cc.
#pragma once

#include <algorithm>

#include "experiment/beside.h"
#include "experiment/paper.h"
#include "report/html.h"

namespace margin::experiment {

// paper_tables_shift.cc
[[nodiscard]] report::Section shift_section(const PaperResults& results);
[[nodiscard]] report::Section he_bcb_section(const PaperResults& results);

// paper_tables_benchmark.cc: one benchmark each, without a shift.
[[nodiscard]] report::Section selection_section(const PaperResults& results);
[[nodiscard]] report::Section resolution_section(const PaperResults& results);
[[nodiscard]] report::Section convergence_section(const PaperResults& results);
[[nodiscard]] report::Section inversion_section(const PaperResults& results);
[[nodiscard]] report::Section split_section(const PaperResults& results);

// paper_tables_change.cc
[[nodiscard]] report::Section transfer_section(const PaperResults& results);
[[nodiscard]] report::Section pool_section(const PaperResults& results);
[[nodiscard]] report::Section ablation_section(const PaperResults& results);
[[nodiscard]] report::Section feedback_section(const PaperResults& results);
[[nodiscard]] report::Section theory_section();

using Estimates = std::vector<std::optional<report::Estimate>>;

// The smallest and largest of some figures.
[[nodiscard]] inline Estimates range_of(const std::vector<double>& values) {
  if (values.empty()) return {std::nullopt, std::nullopt};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {plain(*low), plain(*high)};
}

}  // namespace margin::experiment
