#include "experiment/pool_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "experiment/estimate_cells.h"
#include "experiment/shown.h"
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
      return fmt::format("After {} observations of {} the rest join. Newcomers: all newcomers together, over their first rows.",
                         options.observations / 2, names);
    case Scenario::kRolling:
      return fmt::format(
          "Begins without {}; every {} observations the model with the worst ECE since the last change makes room for the one longest "
          "outside. Mean ECE of the windows between changes.",
          names, options.swap_every);
  }
  return "";
}

Table measures(const PoolResult& result, const PoolOptions& options, Metric metric) {
  Table table{.title = fmt::format("{}: {}, mean and standard deviation over {} orderings", title_of(result.scenario), shown(metric).name,
                                   options.orderings),
              .columns = {{.name = result.scenario == Scenario::kRolling ? "observations" : "measured"}}};
  for (const Trajectory& trajectory : result.trajectories) {
    table.columns.push_back({.name = trajectory.label, .kind = shown(metric).kind});
    table.columns.push_back({.name = trajectory.label + " sd", .kind = shown(metric).kind});
  }
  for (std::size_t measure = 0; measure < result.trajectories.front().measures.size(); ++measure) {
    std::vector<Cell> row = {result.trajectories.front().measures[measure].name};
    for (const Trajectory& trajectory : result.trajectories) {
      const Spread spread = trajectory.measures[measure].of(metric);
      row.emplace_back(spread.mean);
      row.emplace_back(spread.sd);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> notes_on(const PoolResult& result, const PoolOptions& options) {
  std::vector<std::string> notes = {story_of(result, options)};
  for (const Trajectory& trajectory : result.trajectories) {
    if (trajectory.cut_short == 0) continue;
    notes.push_back(fmt::format("{}: in {} of {} orderings the log ended before the scenario did; what lies beyond is left out.",
                                trajectory.label, trajectory.cut_short, options.orderings));
  }
  return notes;
}

constexpr Metric kColdStartMetrics[] = {kEce, kBrier, kLogLoss};

Table differences(const PoolResult& result, const PoolOptions& options, const std::string& focus) {
  // From the back: a method may be called as one of the scenario's own arms, which come first.
  const auto ours = std::find_if(result.trajectories.rbegin(), result.trajectories.rend(), [&](const auto& t) { return t.label == focus; });
  MARGIN_CHECK(ours != result.trajectories.rend(), "the focus is one of the methods");
  Table table{.title = fmt::format("{}: {} minus each other method", title_of(result.scenario), focus),
              .columns = {{.name = "measured"}, {.name = "method"}}};
  for (const Metric metric : kColdStartMetrics) {
    const bool percent = shown(metric).kind == Kind::kPercent;
    table.columns.push_back({.name = std::string(shown(metric).name), .kind = shown(metric).kind, .digits = percent ? 2 : 4});
  }
  for (std::size_t measure = 0; measure < ours->measures.size(); ++measure) {
    for (const Trajectory& theirs : result.trajectories) {
      if (&theirs == &*ours) continue;
      table.rows.push_back({ours->measures[measure].name, theirs.label});
      for (const Metric metric : kColdStartMetrics) {
        table.rows.back().push_back(cell_of(difference_of(ours->measures[measure], theirs.measures[measure], metric)));
      }
    }
  }
  table.notes = {
      fmt::format("Below zero {} is the better. Mean over {} orderings, the same for all, and the 95% interval of that mean: "
                  "it tells a difference from the luck of the order, in this log.",
                  focus, options.orderings)};
  return table;
}

std::vector<Table> tables_of(const PoolResult& result, const PoolOptions& options, const std::string& focus) {
  std::vector<Table> tables = {measures(result, options, kEce)};
  tables.front().notes = notes_on(result, options);
  if (result.scenario != Scenario::kColdStart) return tables;
  for (const Metric metric : {kBrier, kLogLoss}) tables.push_back(measures(result, options, metric));
  if (result.trajectories.size() > 1) tables.push_back(differences(result, options, focus));
  return tables;
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

report::Report pool_report(std::span<const PoolResult> scenarios, const PoolOptions& options, const std::string& focus) {
  report::Report report{.title = "Pool"};
  report.summary.push_back(
      fmt::format("Models leave, join and take turns: {} orderings (seed {}), {} observations, ECE over windows of {}.", options.orderings,
                  options.seed, options.observations, options.window));
  for (const PoolResult& result : scenarios) {
    report.sections.push_back({.heading = title_of(result.scenario),
                               .tables = tables_of(result, options, focus),
                               .figures = {report::figure(picture(result, options), "Each point is the window that ends there.")}});
  }
  return report;
}

}  // namespace margin::experiment
