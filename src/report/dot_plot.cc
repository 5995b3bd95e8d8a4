#include "report/dot_plot.h"

#include <algorithm>

#include "base/check.h"
#include "report/legend.h"
#include "report/text.h"

namespace margin::report {
namespace {

constexpr double kTop = 8.0;
constexpr double kRight = 24.0;
constexpr double kBelow = 48.0;
constexpr std::size_t kNameColumns = 28;

std::vector<double> values_of(const DotPlot& plot) {
  std::vector<double> values;
  for (const DotGroup& group : plot.groups) {
    MARGIN_CHECK(group.values.size() == plot.series.size(), "a group has one value per series");
    for (const auto& each : group.values) {
      if (!each) continue;
      values.push_back(each->value);
      if (each->interval) values.insert(values.end(), {each->interval->low, each->interval->high});
    }
  }
  if (plot.guide) values.push_back(*plot.guide);
  return values;
}

std::string tooltip(const DotGroup& group, const std::string& series, const Estimate& estimate, const Scale& x) {
  std::string text = group.name + ", " + series + ": " + x.text(estimate.value);
  if (estimate.interval) text += " [" + x.text(estimate.interval->low) + ", " + x.text(estimate.interval->high) + "]";
  return text;
}

}  // namespace

std::string to_svg(const DotPlot& plot) {
  double names_width = 0.0;
  for (const DotGroup& group : plot.groups) names_width = std::max(names_width, text_width(shortened(group.name, kNameColumns)));
  const double step = plot.series.size() > 6 ? 9.0 : 11.0;
  const double row_height = std::max(26.0, step * static_cast<double>(plot.series.size()) + 10.0);
  const double left = names_width + 30.0;
  const double rows = std::max<double>(3.0, static_cast<double>(plot.groups.size()));
  const Box area{{left, kTop}, {kPictureWidth - kRight - left, row_height * rows}};
  const Scale x(plot.value, values_of(plot), {area.left(), area.right()}, 7);
  const Legend legend(plot.series, LegendMark::kDot, area.size.width);

  Canvas canvas({kPictureWidth, area.bottom() + kBelow + legend.height()}, plot.words);
  for (std::size_t g = 0; g < plot.groups.size(); g += 2) {
    canvas.box({{8.0, kTop + row_height * static_cast<double>(g)}, {area.right() - 8.0, row_height}}, "stripe");
  }
  draw_axes(canvas, area, {&x, nullptr}, plot.value.label, "");
  if (plot.guide && x.shows(*plot.guide)) canvas.line({x.at(*plot.guide), area.top()}, {x.at(*plot.guide), area.bottom()}, "guide");

  bool any = false;
  for (std::size_t g = 0; g < plot.groups.size(); ++g) {
    const DotGroup& group = plot.groups[g];
    const double middle = kTop + row_height * (static_cast<double>(g) + 0.5);
    canvas.text({left - 10.0, middle + 4.0}, group.name, {.anchor = Anchor::kEnd, .columns_max = kNameColumns});
    for (std::size_t s = 0; s < group.values.size(); ++s) {
      const auto& each = group.values[s];
      if (!each || !x.shows(each->value)) continue;
      any = true;
      const double y = middle + step * (static_cast<double>(s) - (static_cast<double>(group.values.size()) - 1.0) / 2.0);
      const auto& interval = each->interval;
      if (interval && x.shows(interval->low) && x.shows(interval->high))
        canvas.whisker({x.at(interval->low), y}, {x.at(interval->high), y}, s);
      canvas.dot({x.at(each->value), y}, s, tooltip(group, plot.series[s], *each, x));
    }
  }
  if (!any) canvas.nothing(area);
  legend.draw(canvas, {left, area.bottom() + kBelow});
  return std::move(canvas).finish();
}

Table to_table(const DotPlot& plot) {
  Table table{.title = plot.words.title, .columns = {{.name = "group"}}};
  for (const std::string& series : plot.series) {
    table.columns.push_back({.name = series, .kind = plot.value.percent ? Kind::kPercent : Kind::kNumber});
  }
  for (const DotGroup& group : plot.groups) {
    table.rows.push_back({group.name});
    for (const auto& each : group.values) table.rows.back().push_back(each ? Cell(*each) : Cell());
  }
  return table;
}

}  // namespace margin::report
