#include "report/line_chart.h"

#include <algorithm>

#include "report/legend.h"
#include "report/text.h"

namespace margin::report {
namespace {

constexpr double kPlotHeight = 290.0;
constexpr double kRoomRight = 20.0;
constexpr double kRoomBelow = 48.0;
constexpr double kMarkRow = 15.0;
constexpr std::size_t kMarkRows = 5;
constexpr std::size_t kMarkColumns = 26;
constexpr std::size_t kDotsMax = 40;  // longer curves carry only a few dots, to be told apart by

std::vector<double> values_of(const LineChart& chart, bool vertical) {
  std::vector<double> values;
  for (const Curve& curve : chart.curves) {
    for (const CurvePoint& point : curve.points) {
      values.push_back(vertical ? point.y.value : point.x);
      if (vertical && point.y.interval) values.insert(values.end(), {point.y.interval->low, point.y.interval->high});
    }
  }
  if (!vertical) {
    for (const Mark& mark : chart.marks) values.push_back(mark.x);
  }
  return values;
}

// Where the words of the marks stand: in the lowest row above the plot in which they touch no others; in none when all are full.
struct PlacedMark {
  const Mark* mark = nullptr;
  double x = 0.0;
  double words_at = 0.0;
  std::optional<std::size_t> row;
};

std::vector<PlacedMark> place_marks(const LineChart& chart, const Scale& x, Pixels plot) {
  std::vector<PlacedMark> placed;
  for (const Mark& mark : chart.marks) {
    if (x.shows(mark.x)) placed.push_back({&mark, x.at(mark.x), 0.0, {}});
  }
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  std::vector<double> free_from(kMarkRows, -1e9);
  for (PlacedMark& each : placed) {
    const double half = text_width(shortened(each.mark->label, kMarkColumns)) / 2;
    each.words_at = std::max(plot.from, std::min(each.x, plot.to - half));
    each.words_at = std::max(each.words_at, plot.from + half);
    for (std::size_t row = 0; row < kMarkRows && !each.row && half > 0; ++row) {
      if (each.words_at - half < free_from[row]) continue;
      each.row = row;
      free_from[row] = each.words_at + half + 8;
    }
  }
  return placed;
}

class Drawing {
 public:
  explicit Drawing(const LineChart& chart) : chart_(chart) {}

  std::string draw() {
    // The margins depend on the tick labels, which depend on the values alone.
    const double left = left_margin(Scale(chart_.y, values_of(chart_, true), {1, 0}));
    const Pixels across{left, kPictureWidth - kRoomRight};
    const Scale x(chart_.x, values_of(chart_, false), across, 8);
    const std::vector<PlacedMark> marks = place_marks(chart_, x, across);
    std::size_t rows = 0;
    for (const PlacedMark& mark : marks) rows = std::max(rows, mark.row ? *mark.row + 1 : 0);
    const double top = 14.0 + kMarkRow * static_cast<double>(rows);
    const Box plot{{left, top}, {across.to - left, kPlotHeight}};
    const Scale y(chart_.y, values_of(chart_, true), {plot.bottom(), plot.top()});

    std::vector<std::string> names;
    for (const Curve& curve : chart_.curves) names.push_back(curve.name);
    const Legend legend(names, LegendMark::kCurve, across.to - left);

    Canvas canvas({kPictureWidth, plot.bottom() + kRoomBelow + legend.height()}, chart_.words);
    draw_axes(canvas, plot, {&x, &y}, chart_.x.label, chart_.y.label);
    for (const PlacedMark& mark : marks) {
      canvas.line({mark.x, top - 2}, {mark.x, plot.bottom()}, "guide");
      const double above = mark.row ? top - 6 - kMarkRow * static_cast<double>(*mark.row) : top;
      if (mark.row) canvas.text({mark.words_at, above}, mark.mark->label, {Anchor::kMiddle, "small", kMarkColumns});
    }
    bool any = false;
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) draw_bands(canvas, {&x, &y}, i);
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) any = draw_curve(canvas, {&x, &y}, i) || any;
    if (!any) canvas.nothing(plot);
    legend.draw(canvas, {left, plot.bottom() + kRoomBelow});
    return std::move(canvas).finish();
  }

 private:
  // The stretches of a curve without a gap.
  template <class Shows, class Use>
  void for_each_run(std::size_t series, Shows shows, Use use) const {
    std::vector<CurvePoint> run;
    for (const CurvePoint& point : chart_.curves[series].points) {
      if (shows(point)) {
        run.push_back(point);
      } else if (!run.empty()) {
        use(run);
        run.clear();
      }
    }
    if (!run.empty()) use(run);
  }

  void draw_bands(Canvas& canvas, const Scales& scales, std::size_t series) const {
    const auto banded = [&](const CurvePoint& point) {
      const auto& interval = point.y.interval;
      return scales.x->shows(point.x) && interval && scales.y->shows(interval->low) && scales.y->shows(interval->high);
    };
    for_each_run(series, banded, [&](const std::vector<CurvePoint>& run) {
      std::vector<Point> outline;
      for (const CurvePoint& point : run) outline.push_back({scales.x->at(point.x), scales.y->at(point.y.interval->high)});
      for (auto point = run.rbegin(); point != run.rend(); ++point) {
        outline.push_back({scales.x->at(point->x), scales.y->at(point->y.interval->low)});
      }
      if (run.size() > 1) {
        canvas.area(outline, series);
      } else {
        canvas.whisker(outline[0], outline[1], series);
      }
    });
  }

  bool draw_curve(Canvas& canvas, const Scales& scales, std::size_t series) const {
    bool any = false;
    const Curve& curve = chart_.curves[series];
    const std::size_t every = curve.points.size() <= kDotsMax ? 1 : (curve.points.size() + 7) / 8;
    std::size_t index = curve.points.size() <= kDotsMax ? 0 : series;  // curves that run together show their dots in turn
    const auto shown = [&](const CurvePoint& point) { return scales.x->shows(point.x) && scales.y->shows(point.y.value); };
    for_each_run(series, shown, [&](const std::vector<CurvePoint>& run) {
      any = true;
      std::vector<Point> points;
      for (const CurvePoint& point : run) points.push_back({scales.x->at(point.x), scales.y->at(point.y.value)});
      if (points.size() > 1) canvas.curve(points, series);
      for (std::size_t i = 0; i < points.size(); ++i, ++index) {
        if (index % every != 0 && points.size() > 1) continue;
        canvas.dot(points[i], series, curve.name + ": " + scales.x->text(run[i].x) + ", " + scales.y->text(run[i].y.value));
      }
    });
    return any;
  }

  const LineChart& chart_;
};

std::string name_or(const std::string& name, const char* other) { return name.empty() ? other : name; }

}  // namespace

std::string to_svg(const LineChart& chart) { return Drawing(chart).draw(); }

Table to_table(const LineChart& chart) {
  const auto kind = [](const Axis& axis) { return axis.percent ? Kind::kPercent : Kind::kNumber; };
  std::vector<double> across = values_of(chart, false);
  for (double& value : across) value *= chart.x.percent ? 100.0 : 1.0;
  Table table{.title = chart.words.title,
              .columns = {{.name = "curve"},
                          {.name = name_or(chart.x.label, "x"), .kind = kind(chart.x), .digits = digits_for(across, 6)},
                          {.name = name_or(chart.y.label, "y"), .kind = kind(chart.y), .digits = chart.y.percent ? 2 : 4}}};
  for (const Curve& curve : chart.curves) {
    for (const CurvePoint& point : curve.points) table.rows.push_back({curve.name, point.x, point.y});
  }
  const Scale x(chart.x, {}, {0, 1});
  for (const Mark& mark : chart.marks) table.notes.push_back("Marked at " + x.text(mark.x) + ": " + mark.label);
  return table;
}

}  // namespace margin::report
