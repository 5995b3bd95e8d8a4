// Heat map: a factor per row and column (model and confidence band), coloured by how far it is from the centre, by ratio.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/svg.h"
#include "report/table.h"

namespace margin::report {

struct HeatCell {
  double value = 1.0;
  std::size_t n = 0;
};

struct HeatMap {
  Words words;
  std::string row_label;
  std::string column_label;
  std::vector<std::string> columns;
  struct Row {
    std::string name;
    std::vector<std::optional<HeatCell>> cells;  // one per column
  };
  std::vector<Row> rows;
  double centre = 1.0;  // positive; has no colour. Half and double of it have the strongest.
};

[[nodiscard]] std::string to_svg(const HeatMap& map);
[[nodiscard]] Table to_table(const HeatMap& map);

}  // namespace margin::report
