// The qualitative findings of the publication, each a paired difference with its interval on the simulated cohort: does it hold there?
#pragma once

#include <string>
#include <vector>

#include "experiment/paper.h"
#include "report/estimate.h"
#include "report/table.h"

namespace margin::experiment {

struct Finding {
  std::string claim;
  std::string condition;
  std::string difference_of;    // "a - b", what is compared
  report::Estimate difference;  // of ECE, with the 95% interval over resampled tasks
  bool above = false;           // the publication's side of the limit
  double limit = 0.0;

  // Whether the whole interval lies on the publication's side; without an interval nothing holds.
  [[nodiscard]] bool holds() const {
    return difference.interval && (above ? difference.interval->low > limit : difference.interval->high < limit);
  }
};

[[nodiscard]] std::vector<Finding> paper_findings(const PaperResults& results);
[[nodiscard]] report::Table to_table(const std::vector<Finding>& findings);

}  // namespace margin::experiment
