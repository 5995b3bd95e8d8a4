// Line chart: curves with bands and vertical marks. Convergence, ablation (logarithmic, default marked), pool events.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/axis.h"
#include "report/estimate.h"
#include "report/svg.h"
#include "report/table.h"

namespace margin::report {

struct CurvePoint {
  double x = 0.0;
  Estimate y;  // its interval is drawn as a band
};

struct Curve {
  std::string name;
  std::vector<CurvePoint> points;  // by rising x; a point that cannot be shown interrupts the line
};

// A vertical line with words above it: a default value, a model that joins or leaves.
struct Mark {
  double x = 0.0;
  std::string label;
};

struct LineChart {
  Words words;
  Axis x;
  Axis y;
  std::vector<Curve> curves;
  std::vector<Mark> marks;
};

[[nodiscard]] std::string to_svg(const LineChart& chart);
// The same numbers, for those who do not see the picture.
[[nodiscard]] Table to_table(const LineChart& chart);

}  // namespace margin::report
