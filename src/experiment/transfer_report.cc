#include "experiment/transfer_report.h"

#include <fmt/format.h>

#include "experiment/shown.h"
#include "report/dot_plot.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Table;

// One column of the tables: raw, then each method under each regime.
struct Arm {
  std::string name;
  std::size_t regime = 0;
  std::size_t entrant = 0;
};

std::vector<Arm> arms(const RegimeResults& first) {
  const auto& entrants = first.results.front().entrants;
  std::vector<Arm> all = {{entrants.front().label, kTransferred, 0}};
  for (std::size_t entrant = 1; entrant < entrants.size(); ++entrant) {
    for (const std::size_t regime : {kTransferred, kFromScratch}) {
      all.push_back({fmt::format("{}, {}", entrants[entrant].label, first.labels[regime]), regime, entrant});
    }
  }
  return all;
}

const EntrantResult& result_of(const RegimeResults& condition, const Arm& arm) {
  return condition.results[arm.regime].entrants[arm.entrant];
}

Table levels(std::span<const RegimeResults> conditions, Metric metric) {
  const ShownMetric& how = shown(metric);
  const std::vector<Arm> columns = arms(conditions.front());
  Table table{.title = fmt::format("Mean {} on the target", how.name), .columns = {{.name = "condition"}}};
  for (const Arm& arm : columns) table.columns.push_back({.name = arm.name, .kind = how.kind});
  for (const RegimeResults& condition : conditions) {
    std::vector<Cell> row = {condition.condition};
    for (const Arm& arm : columns) row.emplace_back(level(result_of(condition, arm), metric));
    table.rows.push_back(std::move(row));
    report::mark_best_in_row(table, table.rows.size() - 1, how.best);
  }
  return table;
}

Table contests(std::span<const RegimeResults> conditions) {
  const auto& entrants = conditions.front().results.front().entrants;
  Table table{.title = "Transferred minus from scratch, ECE", .columns = {{.name = "condition"}}};
  for (std::size_t entrant = 1; entrant < entrants.size(); ++entrant) {
    table.columns.push_back({.name = entrants[entrant].label, .kind = report::Kind::kPercent});
  }
  for (const RegimeResults& condition : conditions) {
    std::vector<Cell> row = {condition.condition};
    for (std::size_t entrant = 1; entrant < entrants.size(); ++entrant) {
      const auto estimate =
          difference(condition.results[kTransferred].entrants[entrant], condition.results[kFromScratch].entrants[entrant], kEce);
      row.push_back(estimate ? Cell(*estimate) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {"In percentage points of pooled ECE, with the 95% interval of the paired difference over resampled tasks."};
  return table;
}

report::DotPlot picture(std::span<const RegimeResults> conditions) {
  const std::vector<Arm> series = arms(conditions.front());
  report::DotPlot plot{.words = {.title = "ECE per model by condition",
                                 .description = "Factors learned on the source and frozen, learned from scratch on the target, or none."},
                       .value = {.label = "mean ECE per model", .percent = true}};
  for (const Arm& arm : series) plot.series.push_back(arm.name);
  for (const RegimeResults& condition : conditions) {
    report::DotGroup group{.name = condition.condition};
    for (const Arm& arm : series) {
      const std::optional<double> value = level(result_of(condition, arm), kEcePerModel);
      group.values.push_back(value ? std::optional(report::Estimate{*value, std::nullopt}) : std::nullopt);
    }
    plot.groups.push_back(std::move(group));
  }
  return plot;
}

}  // namespace

report::Report transfer_report(std::span<const RegimeResults> conditions, const ShiftOptions& options) {
  report::Report report{.title = "Transfer"};
  report.summary.push_back(
      fmt::format("Factors learned on the source and frozen, against learning from scratch on the target and against stated confidence: {} "
                  "condition{}, mean over {} orderings (seed {}).",
                  conditions.size(), conditions.size() == 1 ? "" : "s", options.orderings, options.seed));
  report::Section section{.heading = "ECE on the target", .tables = {levels(conditions, kEcePerModel), levels(conditions, kEce)}};
  if (options.resamples > 0 && conditions.front().results.front().entrants.size() > 1) section.tables.push_back(contests(conditions));
  section.figures.push_back(report::figure(picture(conditions), "Mean ECE per model on the target."));
  report.sections.push_back(std::move(section));
  return report;
}

}  // namespace margin::experiment
