#include "experiment/ablation_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/shown.h"
#include "report/dot_plot.h"
#include "report/line_chart.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Table;

using Conditions = std::span<const std::vector<ConditionResult>>;

std::string name_of(const Sweep& sweep) { return sweep.method + "." + sweep.parameter; }

// A row per value: the value, whether it is the default, and cell(condition) for each condition.
template <class CellOf>
Table by_value(Conditions conditions, std::span<const Sweep> sweeps, std::size_t number, std::string title, report::Kind kind,
               const CellOf& cell) {
  const Sweep& sweep = sweeps[number];
  Table table{.title = std::move(title), .columns = {{.name = sweep.parameter, .alignment = report::Alignment::kRight}, {.name = "note"}}};
  for (const auto& condition : conditions) table.columns.push_back({.name = condition[number].name, .kind = kind});
  for (std::size_t value = 0; value < sweep.entrants.size(); ++value) {
    std::vector<Cell> row = {sweep.entrants[value].label, value == sweep.base ? "default" : ""};
    for (const auto& condition : conditions) row.push_back(cell(condition[number].entrants, value));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table levels(Conditions conditions, std::span<const Sweep> sweeps, std::size_t number, Metric metric) {
  const ShownMetric& how = shown(metric);
  const Sweep& sweep = sweeps[number];
  Table table = by_value(conditions, sweeps, number, fmt::format("{}: mean {} on the target", name_of(sweep), how.name), how.kind,
                         [&](std::span<const EntrantResult> entrants, std::size_t value) { return Cell(level(entrants[value], metric)); });
  for (std::size_t column = 2; column < table.columns.size(); ++column) report::mark_best_in_column(table, column, how.best);
  if (conditions.size() > 1) {
    table.columns.push_back({.name = "mean", .kind = how.kind});
    for (std::size_t value = 0; value < sweep.entrants.size(); ++value) {
      double sum = 0.0;
      bool defined = true;
      for (const auto& condition : conditions) {
        const std::optional<double> one = level(condition[number].entrants[value], metric);
        defined = defined && one.has_value();
        sum += one.value_or(0.0);
      }
      table.rows[value].push_back(defined ? Cell(sum / static_cast<double>(conditions.size())) : Cell());
    }
    report::mark_best_in_column(table, table.columns.size() - 1, how.best);
  }
  if (!sweep.base) table.notes.push_back(fmt::format("Without the sweep it is {}, which is not in this grid.", sweep.base_value));
  return table;
}

Table changes(Conditions conditions, std::span<const Sweep> sweeps, std::size_t number, Metric metric) {
  const ShownMetric& how = shown(metric);
  const std::size_t base = *sweeps[number].base;
  Table table = by_value(conditions, sweeps, number, fmt::format("{}: {} minus that of the default", name_of(sweeps[number]), how.name),
                         how.kind, [&](std::span<const EntrantResult> entrants, std::size_t value) {
                           const auto estimate = difference(entrants[value], entrants[base], metric);
                           return value != base && estimate ? Cell(*estimate) : Cell();
                         });
  table.notes = {"With the 95% interval of the paired difference over resampled tasks."};
  return table;
}

// A wide grid needs a logarithmic axis.
bool spans_decade(std::span<const double> numbers) {
  double low = 0.0, high = 0.0;
  for (const double x : numbers) {
    if (x <= 0.0) continue;
    low = low == 0.0 ? x : std::min(low, x);
    high = std::max(high, x);
  }
  return high >= 10.0 * low && low > 0.0 && std::none_of(numbers.begin(), numbers.end(), [](double x) { return x < 0.0; });
}

report::Figure curves(Conditions conditions, std::span<const Sweep> sweeps, std::size_t number, Metric metric) {
  const ShownMetric& how = shown(metric);
  const Sweep& sweep = sweeps[number];
  report::LineChart chart{
      .words = {.title = fmt::format("{} by {}", how.name, name_of(sweep)), .description = "A curve per condition; the default is marked."},
      .x = {.label = sweep.parameter, .logarithmic = spans_decade(sweep.numbers)},
      .y = {.label = std::string(how.name), .percent = how.kind == report::Kind::kPercent}};
  std::vector<std::size_t> rising(sweep.numbers.size());
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = i;
  std::sort(rising.begin(), rising.end(), [&](std::size_t a, std::size_t b) { return sweep.numbers[a] < sweep.numbers[b]; });
  for (const auto& condition : conditions) {
    report::Curve curve{.name = condition[number].name};
    for (const std::size_t value : rising) {
      if (const auto y = level(condition[number].entrants[value], metric)) curve.points.push_back({sweep.numbers[value], {*y, {}}});
    }
    chart.curves.push_back(std::move(curve));
  }
  if (sweep.base) chart.marks.push_back({sweep.numbers[*sweep.base], "default"});
  return report::figure(chart, fmt::format("{} on the target over {}.", how.name, name_of(sweep)));
}

report::Figure dots(Conditions conditions, std::span<const Sweep> sweeps, std::size_t number, Metric metric) {
  const ShownMetric& how = shown(metric);
  const Sweep& sweep = sweeps[number];
  report::DotPlot plot{.words = {.title = fmt::format("{} by {}", how.name, name_of(sweep)), .description = "A row per value."},
                       .value = {.label = std::string(how.name), .percent = how.kind == report::Kind::kPercent}};
  for (const auto& condition : conditions) plot.series.push_back(condition[number].name);
  for (std::size_t value = 0; value < sweep.entrants.size(); ++value) {
    report::DotGroup group{.name = sweep.entrants[value].label + (value == sweep.base ? " (default)" : "")};
    for (const auto& condition : conditions) {
      const auto y = level(condition[number].entrants[value], metric);
      group.values.push_back(y ? std::optional(report::Estimate{*y, {}}) : std::nullopt);
    }
    plot.groups.push_back(std::move(group));
  }
  return report::figure(plot, fmt::format("{} on the target by {}.", how.name, name_of(sweep)));
}

}  // namespace

report::Report ablation_report(Conditions conditions, std::span<const Sweep> sweeps, const AblationSetting& setting) {
  report::Report report{.title = "Ablation"};
  report.summary.push_back(fmt::format(
      "{} sweep{} over {} condition{}, boundary {}: mean over {} orderings (seed {}), {} resamples of the target's tasks, vote {}.",
      sweeps.size(), sweeps.size() == 1 ? "" : "s", conditions.size(), conditions.size() == 1 ? "" : "s", setting.boundary,
      setting.options.orderings, setting.options.seed, setting.options.resamples, setting.vote));
  for (std::size_t number = 0; number < sweeps.size(); ++number) {
    report::Section section{.heading = name_of(sweeps[number])};
    for (const Metric metric : setting.metrics) {
      section.tables.push_back(levels(conditions, sweeps, number, metric));
      const bool resampled = metric != kEcePerModel && metric != kResolution && setting.options.resamples > 0;
      if (resampled && sweeps[number].base && sweeps[number].entrants.size() > 1) {
        section.tables.push_back(changes(conditions, sweeps, number, metric));
      }
      const bool drawn = !sweeps[number].numbers.empty();
      section.figures.push_back(drawn ? curves(conditions, sweeps, number, metric) : dots(conditions, sweeps, number, metric));
    }
    report.sections.push_back(std::move(section));
  }
  return report;
}

}  // namespace margin::experiment
