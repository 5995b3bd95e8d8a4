// Legend: which marks belong to which series, in columns under a plot so that it never covers data.
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"

namespace margin::report {

enum class LegendMark { kDot, kCurve };

class Legend {
 public:
  // One series needs no legend when its name is empty.
  Legend(std::vector<std::string> names, LegendMark mark, double width);
  [[nodiscard]] double height() const;
  void draw(Canvas& canvas, Point corner) const;

 private:
  std::vector<std::string> names_;
  LegendMark mark_;
  double entry_width_ = 0.0;
  std::size_t per_row_ = 1;
};

}  // namespace margin::report
