#include "report/reliability_diagram.h"

#include <algorithm>
#include <cmath>

#include "report/axis.h"
#include "report/text.h"

namespace margin::report {
namespace {

constexpr double kSide = 270.0;
constexpr double kLeft = 70.0;
constexpr double kHead = 34.0;
constexpr double kGap = 12.0;
constexpr double kCounts = 58.0;
constexpr Size kPanel{kPictureWidth / 2, kHead + kSide + kGap + kCounts + 56.0};

const Axis kUnit{.percent = true, .low = 0.0, .high = 1.0};

bool in_unit(double value) { return value >= 0.0 && value <= 1.0; }

std::string range_text(const ReliabilityBin& bin) {
  return fixed(100.0 * bin.range.low, 0) + " to " + fixed(100.0 * bin.range.high, 0) + "%";
}

void draw_panel(Canvas& canvas, Point corner, const ReliabilityPanel& panel, std::size_t series) {
  const Box plot{{corner.x + kLeft, corner.y + kHead}, {kSide, kSide}};
  const Box counts{{plot.left(), plot.bottom() + kGap}, {kSide, kCounts}};
  const Scale x(kUnit, {}, {plot.left(), plot.right()}, 5);
  const Scale y(kUnit, {}, {plot.bottom(), plot.top()}, 5);

  canvas.text({plot.left(), corner.y + 20.0}, panel.name, {.style = "strong", .columns_max = 26});
  if (panel.ece && std::isfinite(*panel.ece)) {
    canvas.text({plot.right(), corner.y + 20.0}, "ECE " + fixed(100.0 * *panel.ece, 2) + "%", {.anchor = Anchor::kEnd});
  }
  draw_axes(canvas, counts, {&x, nullptr}, "confidence", "");
  draw_axes(canvas, plot, {nullptr, &y}, "", "share right");
  for (const Tick& tick : x.ticks()) canvas.line({tick.pixel, plot.top()}, {tick.pixel, plot.bottom()}, "grid");

  std::size_t most = 0;
  for (const ReliabilityBin& bin : panel.bins) most = std::max(most, bin.count);
  if (most == 0) {
    canvas.nothing(plot);
    return;
  }
  canvas.line({plot.left(), plot.bottom()}, {plot.right(), plot.top()}, "guide");
  const std::string colour = "bar c" + std::to_string(series % 8);
  canvas.text({plot.left() - 7.0, counts.top() + 9.0}, with_commas(static_cast<double>(most)),
              {.anchor = Anchor::kEnd, .style = "soft small"});
  canvas.text({plot.left() - 7.0, counts.bottom()}, "0", {.anchor = Anchor::kEnd, .style = "soft small"});
  canvas.text({plot.left() - left_margin(y) + 14.0, counts.centre().y}, "count", {.anchor = Anchor::kMiddle, .upwards = true});

  for (const ReliabilityBin& bin : panel.bins) {
    const std::string about = range_text(bin) + ": " + with_commas(static_cast<double>(bin.count));
    if (bin.count == 0) continue;
    if (in_unit(bin.range.low) && in_unit(bin.range.high) && bin.range.low < bin.range.high) {
      const double height = kCounts * static_cast<double>(bin.count) / static_cast<double>(most);
      const double from = x.at(bin.range.low);
      canvas.box({{from + 1.0, counts.bottom() - height}, {x.at(bin.range.high) - from - 2.0, height}}, colour, about);
    }
    if (!in_unit(bin.confidence) || !in_unit(bin.accuracy.value)) continue;
    const Point at{x.at(bin.confidence), y.at(bin.accuracy.value)};
    const auto& interval = bin.accuracy.interval;
    if (interval && std::isfinite(interval->low) && std::isfinite(interval->high)) {
      canvas.whisker({at.x, y.at(interval->low)}, {at.x, y.at(interval->high)}, series);
    }
    canvas.dot(at, series, about + ", share right " + fixed(100.0 * bin.accuracy.value, 1) + "%");
  }
}

}  // namespace

std::string to_svg(const ReliabilityDiagram& diagram) {
  const std::size_t panels = std::max<std::size_t>(1, diagram.panels.size());
  const std::size_t rows = (panels + 1) / 2;
  Canvas canvas({kPictureWidth, kPanel.height * static_cast<double>(rows)}, diagram.words);
  for (std::size_t i = 0; i < panels; ++i) {
    const std::size_t row = i / 2;
    const Point corner{kPanel.width * static_cast<double>(i % 2), kPanel.height * static_cast<double>(row)};
    // The stated confidences come first and have the warning colour.
    draw_panel(canvas, corner, i < diagram.panels.size() ? diagram.panels[i] : ReliabilityPanel{}, i == 0 ? 1 : i == 1 ? 0 : i);
  }
  return std::move(canvas).finish();
}

Table to_table(const ReliabilityDiagram& diagram) {
  Table table{.title = diagram.words.title,
              .columns = {{.name = "panel"},
                          {.name = "bin"},
                          {.name = "count", .kind = Kind::kCount},
                          {.name = "mean confidence", .kind = Kind::kPercent},
                          {.name = "share right", .kind = Kind::kPercent}}};
  for (const ReliabilityPanel& panel : diagram.panels) {
    for (const ReliabilityBin& bin : panel.bins) {
      const bool any = bin.count > 0;
      table.rows.push_back(
          {panel.name, range_text(bin), bin.count, any ? Cell(bin.confidence) : Cell(), any ? Cell(bin.accuracy) : Cell()});
    }
  }
  return table;
}

}  // namespace margin::report
