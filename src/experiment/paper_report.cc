#include "experiment/paper_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/paper_findings.h"
#include "experiment/paper_tables.h"
#include "experiment/passes_report.h"

namespace margin::experiment {

report::Report paper_report(const PaperResults& results, const PaperOptions& options) {
  report::Report report{.title = "The published evaluation, on a simulated cohort"};
  report.summary = {
      "This cohort is synthetic: no model was asked anything. It was drawn to match published statistics (accuracies, stated confidences, "
      "sizes, raw ECE); the original data is not here. Agreement says that the same methods on data of that kind do the same; where a "
      "figure differs from the published one, the tables show it.",
      fmt::format(
          "Preset paper: margin with target=pool_band, counts restarting at the boundary. Mean over {} of seed {}, {} of the tasks, "
          "vote sum, cohort of seed {}. Names in brackets are those of the published tables. Differences are simulated minus "
          "published, in the unit of the column: points for percentages.",
          counted(options.orderings, "ordering"), options.seed, counted(options.resamples, "resample"), kPaperCohortSeed),
      "What the cohort cannot give stands without a simulated figure: the consistency channel, the local models beyond HE and MBPP, single "
      "cells of models that do not take part."};
  if (options.resamples > 0) {
    const std::vector<Finding> findings = paper_findings(results);
    const auto held = std::count_if(findings.begin(), findings.end(), [](const Finding& one) { return one.holds(); });
    report.summary.push_back(
        fmt::format("Of {} comparisons behind the published findings {} hold here, with intervals.", findings.size(), held));
    report.sections.push_back({.heading = "Findings", .tables = {to_table(findings)}});
  }
  for (const auto& section : {shift_section, he_bcb_section, selection_section, resolution_section, convergence_section, transfer_section,
                              pool_section, ablation_section, feedback_section, inversion_section, split_section}) {
    report.sections.push_back(section(results));
  }
  report.sections.push_back(theory_section());
  return report;
}

}  // namespace margin::experiment
