#include "experiment/convergence_report.h"

#include <utility>

#include "report/line_chart.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Kind;

report::Table table_of(const ConvergenceResult& result, std::string title, std::optional<double> Spread::*shown) {
  report::Table table{.title = std::move(title), .columns = {{.name = "first tasks", .kind = Kind::kCount}}};
  for (const ConvergenceCurve& curve : result.curves) table.columns.push_back({.name = curve.label, .kind = Kind::kPercent});
  for (std::size_t i = 0; i < result.checkpoints.size(); ++i) {
    std::vector<Cell> cells = {result.checkpoints[i]};
    for (const ConvergenceCurve& curve : result.curves) cells.emplace_back(curve.pass1[i].*shown);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::LineChart picture(const ConvergenceResult& result) {
  report::LineChart chart{
      .words = {.title = "Cumulative pass@1, " + result.channel,
                .description = "Over the first tasks of an ordering, mean over orderings; bands are one standard deviation."},
      .x = {.label = "tasks done", .logarithmic = true},
      .y = {.label = "pass@1", .percent = true}};
  for (const ConvergenceCurve& curve : result.curves) {
    report::Curve line{.name = curve.label, .points = {}};
    for (std::size_t i = 0; i < result.checkpoints.size(); ++i) {
      const Spread& spread = curve.pass1[i];
      if (!spread.mean) continue;
      report::Estimate y{*spread.mean, std::nullopt};
      if (spread.sd) y.interval = {*spread.mean - *spread.sd, *spread.mean + *spread.sd};
      line.points.push_back({static_cast<double>(result.checkpoints[i]), y});
    }
    chart.curves.push_back(std::move(line));
  }
  return chart;
}

}  // namespace

report::Report convergence_report(std::span<const ConvergenceResult> results, const PassesSetting& setting) {
  report::Report report{.title = "Convergence"};
  for (const ConvergenceResult& result : results) {
    report::Section section{.heading = result.channel, .paragraphs = {}, .tables = {}, .figures = {}};
    section.tables.push_back(table_of(result, "pass@1 over the first tasks, " + result.channel, &Spread::mean));
    for (std::size_t row = 0; row < section.tables.back().rows.size(); ++row) {
      report::mark_best_in_row(section.tables.back(), row, report::Best::kHighest, 1);
    }
    if (setting.options.orderings > 1)
      section.tables.push_back(table_of(result, "Its standard deviation over orderings, " + result.channel, &Spread::sd));
    section.figures.push_back(report::figure(picture(result), "How soon a method pays."));
    report.sections.push_back(std::move(section));
  }
  PassesSetting without_intervals = setting;
  without_intervals.options.resamples = 0;
  report.summary = summary_of("Cumulative pass@1", without_intervals);
  return report;
}

}  // namespace margin::experiment
