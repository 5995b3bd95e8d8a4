// Makes a report with every picture from invented numbers: sample_report DIR [ordinary|hostile|awkward].
// hostile: every text is an attack. awkward: no data, one point, 50 curves, huge ranges, numbers that are none.
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "margin/random.h"
#include "report/dot_plot.h"
#include "report/heat_map.h"
#include "report/html.h"
#include "report/line_chart.h"
#include "report/reliability_diagram.h"
#include "report/risk_coverage.h"

namespace {

using namespace margin::report;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kHostile =
    "<script>alert(1)</script>\"'&amp;]]>--><svg onload=x>=cmd|' /C calc'!A0\x1b[2J\x07\r\n\xe2\x80\xae|`$\\{}%_\xff";

// Every text of the sample goes through here.
struct Namer {
  bool hostile = false;
  std::string operator()(const std::string& text) const { return hostile ? text + " " + kHostile : text; }
};

Interval around(double value, double room) { return {value - room, value + room}; }

ReliabilityDiagram reliability(const Namer& name) {
  ReliabilityPanel before{name("stated"), 0.3232, {}};
  ReliabilityPanel after{name("calibrated by margin"), 0.0127, {}};
  const std::size_t stated[] = {40, 12, 0, 25, 90, 410, 860, 2900, 9800, 37223};
  const std::size_t calibrated[] = {300, 950, 2100, 4200, 7900, 12100, 11400, 8300, 3500, 610};
  for (int i = 0; i < 10; ++i) {
    const double middle = 0.1 * i + 0.05;
    const auto at = static_cast<std::size_t>(i);
    const double right = 0.28 + 0.035 * i;
    const double wide = 1.0 / std::sqrt(static_cast<double>(stated[at]) + 1.0);
    before.bins.push_back(
        {{0.1 * i, 0.1 * i + 0.1}, middle, {right, Interval{std::max(0.0, right - wide), std::min(1.0, right + wide)}}, stated[at]});
    const double room = 1.0 / std::sqrt(static_cast<double>(calibrated[at]));
    const double hit = middle + 0.012 * std::sin(3.0 * i);
    after.bins.push_back(
        {{0.1 * i, 0.1 * i + 0.1}, middle, {hit, Interval{std::max(0.0, hit - room), std::min(1.0, hit + room)}}, calibrated[at]});
  }
  return {{name("Reliability before and after"),
           name("Stated confidence is far above the share of right answers; calibrated, it is on the diagonal.")},
          {before, after}};
}

DotPlot conditions(const Namer& name) {
  DotPlot plot{.words = {name("ECE by condition and method"), name("margin_adaptive is lowest in every condition.")},
               .value = {.label = name("ECE"), .percent = true},
               .series = {name("raw"), name("platt_scaling"), name("sliding_window_histogram"), name("margin"), name("margin_adaptive")},
               .groups = {}};
  const char* names[] = {"HumanEval to BigCodeBench", "MBPP to CodeContests", "GSM8K to MATH", "MMLU to MMLU-Pro", "trivia 2023 to 2024"};
  margin::Random random(7);
  for (const char* each : names) {
    DotGroup group{name(each), {}};
    for (const double typical : {0.28, 0.13, 0.045, 0.031, 0.022}) {
      const double value = typical * (0.7 + 0.6 * random.uniform());
      group.values.emplace_back(Estimate{value, around(value, 0.004 + 0.05 * value)});
    }
    plot.groups.push_back(std::move(group));
  }
  plot.groups[2].values[1].reset();
  return plot;
}

LineChart convergence(const Namer& name) {
  LineChart chart{.words = {name("Convergence"), name("Calibrated selection overtakes raw selection after about 30 tasks.")},
                  .x = {.label = name("tasks"), .logarithmic = true},
                  .y = {.label = name("pass@1 of the selected answer"), .percent = true},
                  .curves = {},
                  .marks = {}};
  const double tasks[] = {10, 30, 50, 100, 150, 164};
  const double raw[] = {0.61, 0.622, 0.625, 0.629, 0.63, 0.631};
  const double ours[] = {0.604, 0.631, 0.645, 0.668, 0.679, 0.681};
  Curve first{name("raw"), {}};
  Curve second{name("margin"), {}};
  for (std::size_t i = 0; i < 6; ++i) {
    first.points.push_back({tasks[i], {raw[i], around(raw[i], 0.05 / std::sqrt(tasks[i] / 10))}});
    second.points.push_back({tasks[i], {ours[i], around(ours[i], 0.05 / std::sqrt(tasks[i] / 10))}});
  }
  chart.curves = {first, second};
  return chart;
}

LineChart ablation(const Namer& name) {
  LineChart chart{.words = {name("Ablation of alpha"), name("The error falls, then rises; the default is near the lowest point.")},
                  .x = {.label = name("alpha"), .logarithmic = true},
                  .y = {.label = name("ECE"), .percent = true, .low = 0.0},
                  .curves = {{name("HE to BCB"), {}}, {name("MBPP to CC"), {}}},
                  .marks = {{0.04, name("default 0.04")}}};
  for (const double alpha : {0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32}) {
    const double away = std::log2(alpha / 0.04);
    chart.curves[0].points.push_back({alpha, {0.025 + 0.004 * away * away, around(0.025 + 0.004 * away * away, 0.003)}});
    chart.curves[1].points.push_back({alpha, {0.041 + 0.003 * (away - 0.5) * (away - 0.5), {}}});
  }
  return chart;
}

LineChart shrinkage(const Namer& name) {
  LineChart chart{.words = {name("Ablation of shrinkage"), name("Flat from 10 to 300.")},
                  .x = {.label = name("k_s"), .logarithmic = true},
                  .y = {.label = name("ECE"), .percent = true},
                  .curves = {{"", {}}},
                  .marks = {{100, name("default 100")}}};
  for (const double k : {0.0, 10.0, 30.0, 100.0, 300.0, 1000.0})
    chart.curves[0].points.push_back({k, {0.031 + 0.000004 * std::fabs(k - 100), {}}});
  return chart;
}

LineChart pool_events(const Namer& name) {
  LineChart chart{.words = {name("Rolling pool"), name("Each exchange of a model costs little and is made good within 50 observations.")},
                  .x = {.label = name("observations")},
                  .y = {.label = name("ECE over windows of 50"), .percent = true, .low = 0.0},
                  .curves = {{name("margin"), {}}, {name("no entry from the pool"), {}}},
                  .marks = {}};
  for (int t = 0; t <= 1000; t += 10) {
    const double since = t % 200;
    const double ours = 0.05 + 0.03 * std::exp(-since / 40.0) + 0.004 * std::sin(t / 17.0);
    const double other = 0.055 + 0.09 * std::exp(-since / 60.0) + 0.004 * std::cos(t / 13.0);
    chart.curves[0].points.push_back({static_cast<double>(t), {ours, around(ours, 0.012)}});
    chart.curves[1].points.push_back({static_cast<double>(t), {other, around(other, 0.015)}});
  }
  for (int t = 200; t < 1000; t += 200) {
    chart.marks.push_back({static_cast<double>(t), name("small-7b leaves")});
    chart.marks.push_back({static_cast<double>(t), name("large-70b joins")});
  }
  return chart;
}

HeatMap factors(const Namer& name) {
  HeatMap map{
      .words = {name("Factors by model and band"), name("Nearly every model is overconfident in the top band.")},
      .row_label = name("model"),
      .column_label = name("stated confidence"),
      .columns = {name("0 to 33%"), name("33 to 67%"), name("67 to 100%")},
      .rows = {{name("large-70b"), {HeatCell{1.41, 210}, HeatCell{1.1, 1804}, HeatCell{0.88, 12077}}},
               {name("medium-14b-instruct"), {HeatCell{2.3, 37}, HeatCell{1.02, 940}, HeatCell{0.71, 9310}}},
               {name("small-7b"), {std::nullopt, HeatCell{0.58, 402}, HeatCell{0.44, 10250}}},
               {name("a-model-with-a-very-long-name-that-does-not-fit"), {HeatCell{1.19, 4}, HeatCell{0.84, 98}, HeatCell{0.6, 51360}}}}};
  return map;
}

RiskCoverage risk(const Namer& name) {
  RiskCoverage picture{.words = {name("Risk and coverage"), name("At every coverage the calibrated decision is wrong less often.")},
                       .curves = {{name("raw"), {}}, {name("margin, stacked"), {}}},
                       .coverage_marked = 0.62,
                       .mark_label = name("promised error 10%")};
  for (int i = 2; i <= 50; ++i) {
    const double coverage = 0.02 * i;
    picture.curves[0].points.push_back({coverage, {0.12 + 0.2 * coverage, {}}});
    const double ours = 0.02 + 0.29 * coverage * coverage;
    picture.curves[1].points.push_back({coverage, {ours, around(ours, 0.004 + 0.01 * coverage)}});
  }
  return picture;
}

Table scores(const Namer& name) {
  Table table{.title = name("Scores by method"),
              .columns = {{name("method")},
                          {name("ECE"), Kind::kPercent},
                          {name("Brier"), Kind::kNumber, 4},
                          {name("pass@1"), Kind::kPercent},
                          {name("rows"), Kind::kCount}},
              .rows = {{name("raw"), Estimate{0.3232, Interval{0.3191, 0.3275}}, 0.3371, 0.675, 51360},
                       {name("margin"), Estimate{0.0127, Interval{0.0102, 0.0163}}, 0.2134, 0.693, 51360},
                       {name("margin_adaptive"), Estimate{0.0074, Interval{0.0061, 0.0099}}, 0.2111, Cell(), 51360}},
              .notes = {name("Invented numbers. Intervals are 95%.")}};
  mark_best_in_column(table, 1, Best::kLowest);
  mark_best_in_column(table, 2, Best::kLowest);
  return table;
}

Report sample(const Namer& name) {
  return {.title = name("Would calibration help on this log?"),
          .summary = {name("Yes: the calibration error falls from 32% to about 1%, with the interval far from zero."),
                      name("All numbers of this sample are invented.")},
          .sections = {{name("Scores"),
                        {name("Every method on the same rows, scored before it learns.")},
                        {scores(name)},
                        {figure(reliability(name), name("Dots: share right per bin of confidence, with 95% intervals. Bars: how many."))}},
                       {name("Under shift"), {}, {}, {figure(conditions(name), name("ECE with 95% intervals; lower is better."))}},
                       {name("Over time"),
                        {},
                        {},
                        {figure(convergence(name), name("Cumulative pass@1.")),
                         figure(pool_events(name), name("Models leave and join every 200 observations."))}},
                       {name("Ablation"),
                        {},
                        {},
                        {figure(ablation(name), name("The rate alpha.")),
                         figure(shrinkage(name), name("The shrinkage k_s; 0 has a place of its own."))}},
                       {name("Trust factors"), {}, {}, {figure(factors(name), name("Below 1: says more than it keeps."))}},
                       {name("Abstaining"), {}, {}, {figure(risk(name), name("Risk at coverage."))}}}};
}

Report awkward() {
  LineChart none{.words = {"Nothing", ""}, .x = {.label = "x"}, .y = {.label = "y"}, .curves = {}, .marks = {}};
  LineChart point{.words = {"One point", ""},
                  .x = {.label = "x", .logarithmic = true},
                  .y = {.label = "y"},
                  .curves = {{"one", {{3.0, {7.0, {}}}}}},
                  .marks = {}};
  LineChart huge{.words = {"Huge ranges and numbers that are none", ""},
                 .x = {.label = "x", .logarithmic = true},
                 .y = {.label = "y"},
                 .curves = {{"huge",
                             {{1e-290, {-1e299, {}}},
                              {1.0, {kNaN, {}}},
                              {kInfinity, {2.0, {}}},
                              {1e290, {1e299, Interval{-kInfinity, kNaN}}},
                              {1e308, {1e308, {}}}}}},
                 .marks = {{kNaN, "nowhere"}, {1.0, ""}}};
  LineChart flat{.words = {"All the same, far from zero", ""},
                 .x = {.label = "x"},
                 .y = {.label = "y"},
                 .curves = {{"same", {{1e9, {1e9 + 1e-7, {}}}, {1e9 + 1, {1e9, {}}}}}},
                 .marks = {}};
  LineChart many{.words = {"Fifty curves", ""}, .x = {.label = "x"}, .y = {.label = "y"}, .curves = {}, .marks = {}};
  for (int i = 0; i < 50; ++i) {
    Curve curve{"model number " + std::to_string(i), {}};
    for (int x = 0; x < 12; ++x) curve.points.push_back({static_cast<double>(x), {std::sin(0.3 * x + 0.2 * i) + 0.1 * i, {}}});
    many.curves.push_back(std::move(curve));
    many.marks.push_back({0.2 * i, "event " + std::to_string(i)});
  }
  DotPlot crowd;
  crowd.words.title = "Many methods";
  crowd.value.percent = true;
  crowd.groups = {{"first", {}}, {"second", {}}};
  crowd.guide = 0.0;
  for (int i = 0; i < 12; ++i) {
    crowd.series.push_back("method_" + std::to_string(i));
    for (auto& group : crowd.groups) group.values.emplace_back(Estimate{0.01 * i - 0.02, around(0.01 * i - 0.02, 0.01)});
  }
  HeatMap wide{.words = {"Many bands", ""}, .row_label = "model", .column_label = "band", .columns = {}, .rows = {{"a", {}}}};
  for (int i = 0; i < 20; ++i) {
    wide.columns.push_back(std::to_string(i));
    wide.rows[0].cells.emplace_back(HeatCell{i == 3 ? kNaN : 0.2 * i, static_cast<std::size_t>(1000000 * i)});
  }
  return {.title = "Awkward data",
          .summary = {},
          .sections = {{"Pictures",
                        {},
                        {Table{}},
                        {figure(none, ""), figure(point, ""), figure(huge, ""), figure(flat, ""), figure(many, ""), figure(DotPlot{}, ""),
                         figure(crowd, ""), figure(HeatMap{}, ""), figure(wide, ""), figure(ReliabilityDiagram{}, ""),
                         figure(ReliabilityDiagram{{"Odd bins", ""},
                                                   {{"odd", kNaN, {{{0, 1}, kNaN, {kNaN, {}}, 3}}},
                                                    {"empty", {}, {}},
                                                    {"third", 0.5, {{{0.5, 1}, 0.7, {2.0, {}}, 1}}}}},
                                ""),
                         figure(RiskCoverage{}, "")}}}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: sample_report DIR [ordinary|hostile|awkward]\n", stderr);
    return 2;
  }
  const std::string kind = argc > 2 ? argv[2] : "ordinary";
  const Report report = kind == "awkward" ? awkward() : sample({.hostile = kind == "hostile"});
  const auto path = write_report(report, argv[1]);
  if (!path) {
    std::fprintf(stderr, "%s\n", path.error().message.c_str());
    return 1;
  }
  std::puts(path->c_str());
  return 0;
}
