#include "experiment/pool_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/line_chart.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Kind;
using report::Table;

std::string title_of(Scenario scenario) {
  switch (scenario) {
    case Scenario::kDropout: return "Dropout";
    case Scenario::kColdStart: return "Cold start";
    case Scenario::kRolling: return "Rolling membership";
  }
  return "";
}

std::string story_of(const PoolResult& result, const PoolOptions& options) {
  const std::string names = fmt::format("{}", fmt::join(result.subjects, ", "));
  switch (result.scenario) {
    case Scenario::kDropout:
      return fmt::format("After {} observations the two models with most rows leave: {}.", options.observations / 2, names);
    case Scenario::kColdStart:
      return fmt::format("After {} observations of {} the rest join. Newcomers: ECE of all newcomers together, over their first rows.",
                         options.observations / 2, names);
    case Scenario::kRolling:
      return fmt::format(
          "Begins without {}; every {} observations the model with the worst ECE since the last change makes room for the one longest "
          "outside. Mean ECE of the windows between changes.",
          names, options.swap_every);
  }
  return "";
}

Table measures(const PoolResult& result, const PoolOptions& options) {
  Table table{.title = fmt::format("{}: ECE, mean and standard deviation over {} orderings", title_of(result.scenario), options.orderings),
              .columns = {{.name = result.scenario == Scenario::kRolling ? "observations" : "measured"}}};
  for (const Trajectory& trajectory : result.trajectories) {
    table.columns.push_back({.name = trajectory.label, .kind = Kind::kPercent});
    table.columns.push_back({.name = trajectory.label + " sd", .kind = Kind::kPercent});
  }
  for (std::size_t measure = 0; measure < result.trajectories.front().measures.size(); ++measure) {
    std::vector<Cell> row = {result.trajectories.front().measures[measure].name};
    for (const Trajectory& trajectory : result.trajectories) {
      row.emplace_back(trajectory.measures[measure].ece.mean);
      row.emplace_back(trajectory.measures[measure].ece.sd);
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {story_of(result, options)};
  for (const Trajectory& trajectory : result.trajectories) {
    if (trajectory.cut_short == 0) continue;
    table.notes.push_back(fmt::format("{}: in {} of {} orderings the log ended before the scenario did; what lies beyond is left out.",
                                      trajectory.label, trajectory.cut_short, options.orderings));
  }
  return table;
}

report::LineChart picture(const PoolResult& result, const PoolOptions& options) {
  report::LineChart chart{.words = {.title = fmt::format("{}: ECE over time", title_of(result.scenario)),
                                    .description = "Mean over orderings with a band of one standard deviation; events are marked."},
                          .x = {.label = "observations"},
                          .y = {.label = fmt::format("ECE over windows of {}", options.window), .percent = true}};
  for (const Trajectory& trajectory : result.trajectories) {
    report::Curve curve{.name = trajectory.label};
    for (std::size_t window = 0; window < trajectory.windows.size(); ++window) {
      const Spread& ece = trajectory.windows[window];
      if (!ece.mean) continue;
      const double sd = ece.sd.value_or(0.0);
      curve.points.push_back({static_cast<double>((window + 1) * options.window),
                              {*ece.mean, report::Interval{std::max(0.0, *ece.mean - sd), *ece.mean + sd}}});
    }
    chart.curves.push_back(std::move(curve));
  }
  for (const PoolEvent& event : result.events) chart.marks.push_back({static_cast<double>(event.at), event.what});
  return chart;
}

}  // namespace

report::Report pool_report(std::span<const PoolResult> scenarios, const PoolOptions& options) {
  report::Report report{.title = "Pool"};
  report.summary.push_back(
      fmt::format("Models leave, join and take turns: {} orderings (seed {}), {} observations, ECE over windows of {}.", options.orderings,
                  options.seed, options.observations, options.window));
  for (const PoolResult& result : scenarios) {
    report.sections.push_back({.heading = title_of(result.scenario),
                               .tables = {measures(result, options)},
                               .figures = {report::figure(picture(result, options), "Each point is the window that ends there.")}});
  }
  return report;
}

}  // namespace margin::experiment
