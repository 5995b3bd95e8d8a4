#include "experiment/feedback_report.h"

#include <fmt/format.h>

#include <algorithm>
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

// The regimes before the remedies, which have tables of their own.
std::size_t plain_regimes(const FeedbackGrid& grid) { return grid.lags.size() + (grid.selected ? 1 : 0); }

Table levels(const RegimeResults& condition, std::size_t regimes) {
  Table table{.title = fmt::format("{}: mean ECE on the target", condition.condition), .columns = {{.name = "method"}}};
  for (std::size_t r = 0; r < regimes; ++r) table.columns.push_back({.name = condition.labels[r], .kind = Kind::kPercent});
  for (std::size_t method = 0; method < condition.results.front().entrants.size(); ++method) {
    std::vector<Cell> row = {condition.results.front().entrants[method].label};
    for (std::size_t r = 0; r < regimes; ++r) row.emplace_back(level(condition.results[r].entrants[method], kEce));
    table.rows.push_back(std::move(row));
  }
  if (table.rows.size() < 2) return table;
  for (std::size_t column = 1; column < table.columns.size(); ++column) report::mark_best_in_column(table, column, report::Best::kLowest);
  return table;
}

std::optional<report::Estimate> change(const RegimeResults& condition, std::size_t regime, std::size_t method) {
  return difference(condition.results[regime].entrants[method], condition.results.front().entrants[method], kEce);
}

// The mean over conditions; its interval is over resamples of every condition's tasks at once.
std::optional<report::Estimate> mean_change(std::span<const RegimeResults> conditions, std::size_t regime, std::size_t method) {
  if (conditions.size() == 1) return change(conditions.front(), regime, method);
  double sum = 0.0;
  std::size_t defined = 0;
  Resampled resamples(conditions.front().results.front().entrants[method].ece.size(), 0.0);
  for (const RegimeResults& condition : conditions) {
    const auto estimate = change(condition, regime, method);
    if (!estimate) continue;
    ++defined;
    sum += estimate->value;
    const Resampled& here = condition.results[regime].entrants[method].ece;
    const Resampled& there = condition.results.front().entrants[method].ece;
    for (std::size_t r = 0; r < resamples.size(); ++r) {
      if (!here[r] || !there[r]) resamples[r].reset();
      if (resamples[r]) *resamples[r] += *here[r] - *there[r];
    }
  }
  if (defined == 0) return std::nullopt;
  const auto count = static_cast<double>(defined);
  report::Estimate mean{sum / count, std::nullopt};
  for (std::optional<double>& value : resamples) {
    if (value) *value /= count;
  }
  if (const auto interval = percentile_interval(resamples)) mean.interval = {interval->low, interval->high};
  return mean;
}

Table changes(const RegimeResults& condition, std::size_t regimes) {
  Table table{.title = fmt::format("{}: change of ECE against {}", condition.condition, condition.labels.front()),
              .columns = {{.name = "method"}}};
  for (std::size_t regime = 1; regime < regimes; ++regime) {
    table.columns.push_back({.name = condition.labels[regime], .kind = Kind::kPercent});
  }
  for (std::size_t method = 0; method < condition.results.front().entrants.size(); ++method) {
    std::vector<Cell> row = {condition.results.front().entrants[method].label};
    for (std::size_t regime = 1; regime < regimes; ++regime) {
      const auto estimate = change(condition, regime, method);
      row.push_back(estimate ? Cell(*estimate) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {"In percentage points, with the 95% interval of the paired difference over resampled tasks."};
  return table;
}

// Over conditions: mean change, or in how many the change is harmless.
Table over_conditions(std::span<const RegimeResults> conditions, std::size_t regimes, bool count) {
  const RegimeResults& first = conditions.front();
  Table table{.title = count ? fmt::format("Conditions, of {}, where ECE changes by at most 2 points", conditions.size())
                             : fmt::format("Mean change of ECE against {} over {} conditions", first.labels.front(), conditions.size()),
              .columns = {{.name = "method"}}};
  for (std::size_t regime = 1; regime < regimes; ++regime) {
    table.columns.push_back({.name = first.labels[regime], .kind = count ? Kind::kCount : Kind::kPercent});
  }
  for (std::size_t method = 0; method < first.results.front().entrants.size(); ++method) {
    std::vector<Cell> row = {first.results.front().entrants[method].label};
    for (std::size_t regime = 1; regime < regimes; ++regime) {
      if (count) {
        row.emplace_back(std::count_if(conditions.begin(), conditions.end(), [&](const RegimeResults& condition) {
          const auto estimate = change(condition, regime, method);
          return estimate && std::fabs(estimate->value) <= kHarmless;
        }));
      } else {
        const auto estimate = mean_change(conditions, regime, method);
        row.push_back(estimate ? Cell(*estimate) : Cell());
      }
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// What the selected answer's outcome alone costs without and with remedies: a row each, the change of ECE of every method.
Table remedies(std::span<const RegimeResults> conditions, const FeedbackGrid& grid) {
  const RegimeResults& first = conditions.front();
  const std::string where = conditions.size() == 1 ? first.condition : fmt::format("mean over {} conditions", conditions.size());
  Table table{.title = fmt::format("{}: change of ECE against {}, by remedy", where, first.labels.front()),
              .columns = {{.name = "outcomes of the selected answer, and"}}};
  for (const EntrantResult& entrant : first.results.front().entrants) {
    table.columns.push_back({.name = entrant.label, .kind = Kind::kPercent});
    table.columns.push_back({.name = entrant.label + ", ECE", .kind = Kind::kPercent});
  }
  for (std::size_t regime = grid.lags.size(); regime < first.labels.size(); ++regime) {
    table.rows.push_back({first.labels[regime]});
    for (std::size_t method = 0; method < first.results.front().entrants.size(); ++method) {
      const auto estimate = mean_change(conditions, regime, method);
      table.rows.back().push_back(estimate ? Cell(*estimate) : Cell());
      double sum = 0.0;
      for (const RegimeResults& condition : conditions) sum += level(condition.results[regime].entrants[method], kEce).value_or(0.0);
      table.rows.back().emplace_back(sum / static_cast<double>(conditions.size()));
    }
  }
  table.notes = {"In percentage points, with the 95% interval of the paired difference over resampled tasks; beside it the ECE itself."};
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

// The price of audits: a curve per method, for the remedy whose first regime is `first`.
report::LineChart frontier(std::span<const RegimeResults> conditions, const FeedbackGrid& grid, std::size_t first, RemedyKind remedy) {
  const auto& entrants = conditions.front().results.front().entrants;
  report::LineChart chart{
      .words = {.title = fmt::format("ECE by share of audited responses, remedy {}", kRemedyNames[static_cast<std::size_t>(remedy)]),
                .description =
                    fmt::format("Change of ECE in points against {}, by audit rate and method.", conditions.front().labels.front())},
      .x = {.label = "audited share of the responses beside the selected answer", .percent = true},
      .y = {.label = "change of ECE", .percent = true}};
  for (std::size_t method = 0; method < entrants.size(); ++method) {
    report::Curve curve{.name = entrants[method].label};
    for (std::size_t rate = 0; rate < grid.audits.size(); ++rate) {
      auto estimate = mean_change(conditions, first + rate, method);
      if (!estimate) continue;
      if (entrants.size() > kBandsMax) estimate->interval.reset();
      curve.points.push_back({grid.audits[rate], *estimate});
    }
    chart.curves.push_back(std::move(curve));
  }
  return chart;
}

report::Section remedy_section(std::span<const RegimeResults> conditions, const FeedbackGrid& grid) {
  report::Section section{.heading = "Remedies", .tables = {remedies(conditions, grid)}};
  if (conditions.size() > 1) {
    for (const RegimeResults& condition : conditions) section.tables.push_back(remedies(std::span(&condition, 1), grid));
  }
  std::size_t first = plain_regimes(grid);
  for (const RemedyKind remedy : grid.remedies) {
    const bool complete = remedy != RemedyKind::kWeighted;  // which has no regime without audits
    if (complete && grid.audits.size() > 1) {
      section.figures.push_back(report::figure(frontier(conditions, grid, first, remedy), "What audits buy."));
    }
    first += grid.audits.size() - (complete ? 0 : static_cast<std::size_t>(std::count(grid.audits.begin(), grid.audits.end(), 0.0)));
  }
  return section;
}

}  // namespace

report::Report feedback_report(std::span<const RegimeResults> conditions, const FeedbackSetting& setting) {
  report::Report report{.title = "Feedback"};
  report.summary.push_back(fmt::format(
      "What late and partial outcomes cost: {} condition{}, boundary {}; mean over {} orderings (seed {}), {} resamples of the target's "
      "tasks, vote {}. Each method selects with its own calibrated vote.",
      conditions.size(), conditions.size() == 1 ? "" : "s", setting.boundary, setting.options.orderings, setting.options.seed,
      setting.options.resamples, setting.vote));
  const std::size_t regimes = plain_regimes(setting.grid);
  const bool compares = regimes > 1;
  if (!setting.grid.remedies.empty()) report.sections.push_back(remedy_section(conditions, setting.grid));
  if (conditions.size() > 1 && compares) {
    report.sections.push_back({.heading = "Over conditions",
                               .tables = {over_conditions(conditions, regimes, false), over_conditions(conditions, regimes, true)}});
  }
  for (const RegimeResults& condition : conditions) {
    report::Section section{.heading = condition.condition, .tables = {levels(condition, regimes)}};
    if (compares) section.tables.push_back(changes(condition, regimes));
    if (setting.grid.lags.size() > 1) {
      section.figures.push_back(report::figure(picture(condition, setting.grid.lags), "Change of ECE by lag, against immediate outcomes."));
    }
    report.sections.push_back(std::move(section));
  }
  return report;
}

}  // namespace margin::experiment
