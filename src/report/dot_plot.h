// Dot plot: one row per group, one dot with its interval per series. ECE by condition and method.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/axis.h"
#include "report/estimate.h"
#include "report/svg.h"
#include "report/table.h"

namespace margin::report {

struct DotGroup {
  std::string name;
  std::vector<std::optional<Estimate>> values;  // one per series
};

struct DotPlot {
  Words words;
  Axis value;
  std::vector<std::string> series;
  std::vector<DotGroup> groups;
  std::optional<double> guide = {};  // a vertical line, for instance at no difference
};

[[nodiscard]] std::string to_svg(const DotPlot& plot);
[[nodiscard]] Table to_table(const DotPlot& plot);

}  // namespace margin::report
