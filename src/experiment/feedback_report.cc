#include "experiment/feedback_report.h"

#include <fmt/format.h>

#include <cmath>

#include "experiment/shown.h"
#include "report/line_chart.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Kind;
using report::Table;

// A change within this is counted as harmless.
constexpr double kHarmless = 0.02;

Table levels(const RegimeResults& condition) {
  Table table{.title = fmt::format("{}: mean ECE on the target", condition.condition), .columns = {{.name = "method"}}};
  for (const std::string& label : condition.labels) table.columns.push_back({.name = label, .kind = Kind::kPercent});
  for (std::size_t method = 0; method < condition.results.front().entrants.size(); ++method) {
    std::vector<Cell> row = {condition.results.front().entrants[method].label};
    for (const ConditionResult& result : condition.results) row.emplace_back(level(result.entrants[method], kEce));
    table.rows.push_back(std::move(row));
  }
  if (table.rows.size() < 2) return table;
  for (std::size_t column = 1; column < table.columns.size(); ++column) report::mark_best_in_column(table, column, report::Best::kLowest);
  return table;
}

std::optional<report::Estimate> change(const RegimeResults& condition, std::size_t regime, std::size_t method) {
  return difference(condition.results[regime].entrants[method], condition.results.front().entrants[method], kEce);
}

Table changes(const RegimeResults& condition) {
  Table table{.title = fmt::format("{}: change of ECE against {}", condition.condition, condition.labels.front()),
              .columns = {{.name = "method"}}};
  for (std::size_t regime = 1; regime < condition.labels.size(); ++regime) {
    table.columns.push_back({.name = condition.labels[regime], .kind = Kind::kPercent});
  }
  for (std::size_t method = 0; method < condition.results.front().entrants.size(); ++method) {
    std::vector<Cell> row = {condition.results.front().entrants[method].label};
    for (std::size_t regime = 1; regime < condition.labels.size(); ++regime) {
      const auto estimate = change(condition, regime, method);
      row.push_back(estimate ? Cell(*estimate) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {"In percentage points, with the 95% interval of the paired difference over resampled tasks."};
  return table;
}

// Over conditions: mean change, or in how many the change is harmless.
Table over_conditions(std::span<const RegimeResults> conditions, bool count) {
  const RegimeResults& first = conditions.front();
  Table table{.title = count ? fmt::format("Conditions, of {}, where ECE changes by at most 2 points", conditions.size())
                             : fmt::format("Mean change of ECE against {} over {} conditions", first.labels.front(), conditions.size()),
              .columns = {{.name = "method"}}};
  for (std::size_t regime = 1; regime < first.labels.size(); ++regime) {
    table.columns.push_back({.name = first.labels[regime], .kind = count ? Kind::kCount : Kind::kPercent});
  }
  for (std::size_t method = 0; method < first.results.front().entrants.size(); ++method) {
    std::vector<Cell> row = {first.results.front().entrants[method].label};
    for (std::size_t regime = 1; regime < first.labels.size(); ++regime) {
      std::size_t harmless = 0, defined = 0;
      double sum = 0.0;
      for (const RegimeResults& condition : conditions) {
        const auto estimate = change(condition, regime, method);
        if (!estimate) continue;
        ++defined;
        sum += estimate->value;
        harmless += std::fabs(estimate->value) <= kHarmless;
      }
      row.push_back(count ? Cell(harmless) : defined == 0 ? Cell() : Cell(sum / static_cast<double>(defined)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Bands of many methods would hide each other.
constexpr std::size_t kBandsMax = 3;

report::LineChart picture(const RegimeResults& condition, std::span<const std::size_t> lags) {
  const std::size_t methods = condition.results.front().entrants.size();
  report::LineChart chart{
      .words = {.title = fmt::format("{}: ECE when outcomes come late", condition.condition),
                .description = fmt::format("Change of ECE in points against {}, by lag and method.", condition.labels.front())},
      .x = {.label = "lag in rows"},
      .y = {.label = "change of ECE", .percent = true}};
  for (std::size_t method = 0; method < methods; ++method) {
    report::Curve curve{.name = condition.results.front().entrants[method].label};
    for (std::size_t regime = 0; regime < lags.size(); ++regime) {
      auto estimate = change(condition, regime, method);
      if (!estimate) continue;
      if (methods > kBandsMax) estimate->interval.reset();
      curve.points.push_back({static_cast<double>(lags[regime]), *estimate});
    }
    chart.curves.push_back(std::move(curve));
  }
  return chart;
}

}  // namespace

report::Report feedback_report(std::span<const RegimeResults> conditions, const FeedbackSetting& setting) {
  report::Report report{.title = "Feedback"};
  report.summary.push_back(fmt::format(
      "What late and partial outcomes cost: {} condition{}, boundary {}; mean over {} orderings (seed {}), {} resamples of the target's "
      "tasks, vote {}. Each method selects with its own calibrated vote.",
      conditions.size(), conditions.size() == 1 ? "" : "s", setting.boundary, setting.options.orderings, setting.options.seed,
      setting.options.resamples, setting.vote));
  const bool compares = conditions.front().labels.size() > 1;
  if (conditions.size() > 1 && compares) {
    report.sections.push_back(
        {.heading = "Over conditions", .tables = {over_conditions(conditions, false), over_conditions(conditions, true)}});
  }
  for (const RegimeResults& condition : conditions) {
    report::Section section{.heading = condition.condition, .tables = {levels(condition)}};
    if (compares) section.tables.push_back(changes(condition));
    if (setting.lags.size() > 1) {
      section.figures.push_back(report::figure(picture(condition, setting.lags), "Change of ECE by lag, against immediate outcomes."));
    }
    report.sections.push_back(std::move(section));
  }
  return report;
}

}  // namespace margin::experiment
