// Risk-coverage: the share of wrong answers among the most confident, as more and more are answered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/line_chart.h"

namespace margin::report {

struct RiskPoint {
  double coverage = 0.0;  // share of tasks answered, in [0, 1]
  Estimate risk;          // share of those that are wrong
};

struct RiskCurve {
  std::string name;
  std::vector<RiskPoint> points;  // by rising coverage
};

struct RiskCoverage {
  Words words;
  std::vector<RiskCurve> curves;
  std::optional<double> coverage_marked = {};  // for instance where a promised error is reached
  std::string mark_label = "";
};

[[nodiscard]] std::string to_svg(const RiskCoverage& picture);
[[nodiscard]] Table to_table(const RiskCoverage& picture);

}  // namespace margin::report
