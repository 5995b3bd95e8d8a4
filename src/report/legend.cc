#include "report/legend.h"

#include <algorithm>
#include <array>

#include "report/text.h"

namespace margin::report {
namespace {

constexpr std::size_t kEntryColumns = 30;
constexpr double kEntryHeight = 18.0;
constexpr double kMarkWidth = 36.0;

}  // namespace

Legend::Legend(std::vector<std::string> names, LegendMark mark, double width) : names_(std::move(names)), mark_(mark) {
  if (names_.size() == 1 && names_[0].empty()) names_.clear();
  double widest = 0.0;
  for (const std::string& name : names_) widest = std::max(widest, text_width(shortened(name, kEntryColumns)));
  entry_width_ = kMarkWidth + widest + 18.0;
  per_row_ = static_cast<std::size_t>(std::max(1.0, width / entry_width_));
}

double Legend::height() const {
  const std::size_t rows = (names_.size() + per_row_ - 1) / per_row_;
  return rows == 0 ? 0.0 : kEntryHeight * static_cast<double>(rows) + 10.0;
}

void Legend::draw(Canvas& canvas, Point corner) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::size_t row = i / per_row_;
    const std::size_t place = i % per_row_;
    const Point at{corner.x + entry_width_ * static_cast<double>(place), corner.y + 12.0 + kEntryHeight * static_cast<double>(row)};
    if (mark_ == LegendMark::kCurve) canvas.curve(std::array{Point{at.x, at.y}, Point{at.x + 28, at.y}}, i);
    canvas.dot({at.x + 14, at.y}, i);
    canvas.text({at.x + kMarkWidth, at.y + 4}, names_[i], {.columns_max = kEntryColumns});
  }
}

}  // namespace margin::report
