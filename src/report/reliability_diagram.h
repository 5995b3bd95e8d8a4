// Reliability diagram: confidence against how often it was right, with counts below and 95% intervals; before and after side by side.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/estimate.h"
#include "report/svg.h"
#include "report/table.h"

namespace margin::report {

// All in [0, 1]. A bin without observations is only counted.
struct ReliabilityBin {
  Interval range;
  double confidence = 0.0;  // mean
  Estimate accuracy;
  std::size_t count = 0;
};

struct ReliabilityPanel {
  std::string name;
  std::optional<double> ece;
  std::vector<ReliabilityBin> bins;
};

struct ReliabilityDiagram {
  Words words;
  std::vector<ReliabilityPanel> panels;  // two in a row
};

[[nodiscard]] std::string to_svg(const ReliabilityDiagram& diagram);
[[nodiscard]] Table to_table(const ReliabilityDiagram& diagram);

}  // namespace margin::report
