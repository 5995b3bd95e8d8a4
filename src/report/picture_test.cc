// The pictures as numbers: where marks stand, what is left out. tests/report checks that every picture is well-formed.
#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <set>

#include "report/dot_plot.h"
#include "report/heat_map.h"
#include "report/line_chart.h"
#include "report/reliability_diagram.h"
#include "report/report_fixture.h"
#include "report/risk_coverage.h"

namespace margin::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

LineChart chart(std::vector<CurvePoint> points) {
  LineChart out;
  out.curves.push_back({"curve", std::move(points)});
  return out;
}

TEST(ReportPicture, GapsInterruptACurve) {
  const std::string svg = to_svg(chart({{0, {1, {}}}, {1, {2, {}}}, {2, {kNaN, {}}}, {3, {1, {}}}, {4, {2, {}}}}));
  EXPECT_EQ(count(svg, "<polyline"), 2U + 1U);  // and the legend's
  EXPECT_EQ(count(svg, "curve: "), 4U);
}

TEST(ReportPicture, NothingIsSaidSo) {
  for (const std::string& svg : {to_svg(LineChart{}), to_svg(chart({{kNaN, {kNaN, {}}}})), to_svg(DotPlot{}), to_svg(HeatMap{}),
                                 to_svg(ReliabilityDiagram{}), to_svg(RiskCoverage{})}) {
    EXPECT_EQ(count(svg, ">no data</text>"), 1U);
    EXPECT_EQ(count(svg, "nan"), 0U);
  }
}

TEST(ReportPicture, ManySeriesAreToldApart) {
  std::set<std::string> dots;
  std::set<std::string> curves;
  for (std::size_t series = 0; series < 192; ++series) {
    Canvas canvas({100, 100}, {});
    canvas.dot({50, 50}, series);
    if (series < 48) dots.insert(Canvas(canvas).finish());
    canvas.curve(std::vector<Point>{{0, 0}, {100, 100}}, series);
    curves.insert(std::move(canvas).finish());
  }
  EXPECT_EQ(dots.size(), 48U);
  EXPECT_EQ(curves.size(), 192U);
}

TEST(ReportPicture, ManySeriesAreAllNamed) {
  LineChart many;
  for (int i = 0; i < 50; ++i) many.curves.push_back({"name " + std::to_string(i) + "!", {{0, {1.0 * i, {}}}, {1, {2.0 * i, {}}}}});
  const std::string svg = to_svg(many);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(count(svg, ">name " + std::to_string(i) + "!</text>"), 1U);
}

TEST(ReportPicture, ALogarithmicMarkStandsAtItsValue) {
  LineChart ablation = chart({{0.01, {1, {}}}, {0.04, {2, {}}}, {0.16, {1, {}}}});
  ablation.x.logarithmic = true;
  ablation.marks.push_back({0.04, "default"});
  const std::string svg = to_svg(ablation);
  std::smatch guide;
  ASSERT_TRUE(std::regex_search(svg, guide, std::regex("<line x1=\"([0-9.]+)\"[^>]*class=\"guide\"")));
  EXPECT_EQ(count(svg, "<circle cx=\"" + guide[1].str() + "\""), 1U);
}

TEST(ReportPicture, HeatIsByRatioAroundTheCentre) {
  HeatMap map;
  map.columns = {"a", "b", "c", "d"};
  map.rows = {{"m", {HeatCell{0.2, 1}, HeatCell{1.0, 2}, HeatCell{2.0, 51360}, std::nullopt}}};
  const std::string svg = to_svg(map);
  // One more of each colour stands in the key.
  EXPECT_EQ(count(svg, "class=\"n4\""), 2U);
  EXPECT_EQ(count(svg, "class=\"z0\""), 2U);
  EXPECT_EQ(count(svg, "class=\"p4\""), 2U);
  EXPECT_EQ(count(svg, "class=\"missing\""), 1U);
  EXPECT_EQ(count(svg, ">0.20</text>"), 1U);
  EXPECT_EQ(count(svg, ">n 51,360</text>"), 1U);
}

TEST(ReportPicture, PerfectCalibrationStandsOnTheDiagonal) {
  ReliabilityDiagram diagram;
  diagram.panels.push_back({"p", 0.0, {{{0.2, 0.3}, 0.25, {0.25, Interval{0.2, 0.3}}, 10}, {{0.8, 0.9}, 0.85, {0.85, {}}, 5}}});
  const std::string svg = to_svg(diagram);
  std::smatch guide;
  ASSERT_TRUE(std::regex_search(svg, guide,
                                std::regex("<line x1=\"([0-9.]+)\" y1=\"([0-9.]+)\" x2=\"([0-9.]+)\" y2=\"([0-9.]+)\" class=\"guide\"")));
  const double x1 = std::stod(guide[1]), y1 = std::stod(guide[2]), x2 = std::stod(guide[3]), y2 = std::stod(guide[4]);
  // The dots of the first panel are squares; their centre is the middle of two corners.
  const std::regex square("<polygon points=\"([0-9.]+),([0-9.]+) [0-9.,]+ ([0-9.]+),([0-9.]+) ");
  std::size_t dots = 0;
  for (std::sregex_iterator dot(svg.begin(), svg.end(), square), end; dot != end; ++dot, ++dots) {
    const double x = (std::stod((*dot)[1]) + std::stod((*dot)[3])) / 2, y = (std::stod((*dot)[2]) + std::stod((*dot)[4])) / 2;
    EXPECT_NEAR((x - x1) / (x2 - x1), (y - y1) / (y2 - y1), 1e-3);
  }
  EXPECT_EQ(dots, 2U);
}

TEST(ReportPicture, LongNamesAreCutAndKeptInATooltip) {
  const std::string name(200, 'x');
  DotPlot plot;
  plot.series = {"s"};
  plot.groups = {{name, {Estimate{1.0, {}}}}};
  const std::string svg = to_svg(plot);
  EXPECT_EQ(count(svg, "<title>" + name + "</title>"), 1U);
  EXPECT_EQ(count(svg, std::string(27, 'x') + "…</text>"), 1U);
}

TEST(ReportPicture, HostileTextIsEscaped) {
  DotPlot plot;
  plot.words = {test::kHostile, test::kHostile};
  plot.value.label = test::kHostile;
  plot.series = {test::kHostile};
  plot.groups = {{test::kHostile, {Estimate{1.0, {}}}}};
  const std::string svg = to_svg(plot);
  test::expect_tame(svg);
  EXPECT_EQ(count(svg, "<script"), 0U);
  EXPECT_GE(count(svg, "&lt;script&gt;"), 5U);
}

TEST(ReportPicture, TablesHoldThePicturesNumbers) {
  test::expect_golden("line_chart_data.txt", to_text(to_table(chart({{0.005, {0.25, Interval{0.2, 0.3}}}, {0.01, {0.5, {}}}}))));
  HeatMap map{.words = {"Factors", ""}, .row_label = "model", .column_label = "", .columns = {"low", "high"}, .rows = {}};
  map.rows = {{"a", {HeatCell{1.5, 1234}, std::nullopt}}};
  test::expect_golden("heat_map_data.txt", to_text(to_table(map)));
}

}  // namespace
}  // namespace margin::report
