#include "report/risk_coverage.h"

namespace margin::report {
namespace {

LineChart as_lines(const RiskCoverage& picture) {
  LineChart chart{.words = picture.words,
                  .x = {.label = "coverage: share of tasks answered", .percent = true, .low = 0.0, .high = 1.0},
                  .y = {.label = "risk: share of those wrong", .percent = true, .low = 0.0}};
  for (const RiskCurve& curve : picture.curves) {
    Curve line{.name = curve.name, .points = {}};
    for (const RiskPoint& point : curve.points) line.points.push_back({point.coverage, point.risk});
    chart.curves.push_back(std::move(line));
  }
  if (picture.coverage_marked) chart.marks.push_back({*picture.coverage_marked, picture.mark_label});
  return chart;
}

}  // namespace

std::string to_svg(const RiskCoverage& picture) { return to_svg(as_lines(picture)); }

Table to_table(const RiskCoverage& picture) { return to_table(as_lines(picture)); }

}  // namespace margin::report
