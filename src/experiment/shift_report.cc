#include "experiment/shift_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/dot_plot.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Kind;
using report::Table;

struct Shown {
  Metric metric;
  Compared compared;
  const char* name;
  Kind kind;
};
constexpr Shown kShown[] = {{kEce, Compared::kEce, "ECE", Kind::kPercent},
                            {kBrier, Compared::kBrier, "Brier score", Kind::kNumber},
                            {kLogLoss, Compared::kLogLoss, "log loss", Kind::kNumber}};

const Resampled& resampled(const EntrantResult& entrant, Compared compared) {
  return compared == Compared::kEce ? entrant.ece : compared == Compared::kBrier ? entrant.brier : entrant.log_loss;
}

report::Estimate estimate(const EntrantResult& entrant, const Shown& shown) {
  report::Estimate result{entrant.scores.mean[shown.metric].value_or(0.0), std::nullopt};
  if (const auto interval = percentile_interval(resampled(entrant, shown.compared))) result.interval = {interval->low, interval->high};
  return result;
}

// A row per condition and a column per method, then the mean over conditions.
Table means(std::span<const ConditionResult> conditions, const Shown& shown) {
  Table table{.title = fmt::format("Mean {} on the target", shown.name), .columns = {{.name = "condition"}}};
  for (const EntrantResult& entrant : conditions.front().entrants) table.columns.push_back({.name = entrant.label, .kind = shown.kind});
  std::vector<double> sums(conditions.front().entrants.size(), 0.0);
  for (const ConditionResult& condition : conditions) {
    std::vector<Cell> row = {condition.name};
    for (std::size_t i = 0; i < condition.entrants.size(); ++i) {
      const std::optional<double> mean = condition.entrants[i].scores.mean[shown.metric];
      row.emplace_back(mean);
      sums[i] += mean.value_or(0.0);
    }
    table.rows.push_back(std::move(row));
    report::mark_best_in_row(table, table.rows.size() - 1, report::Best::kLowest);
  }
  if (conditions.size() > 1) {
    std::vector<Cell> row = {"mean"};
    for (const double sum : sums) row.emplace_back(sum / static_cast<double>(conditions.size()));
    table.rows.push_back(std::move(row));
    report::mark_best_in_row(table, table.rows.size() - 1, report::Best::kLowest);
  }
  return table;
}

Table records(const ComparisonTable& compared, const ShiftSetting& setting, const Shown& shown) {
  Table table{.title = fmt::format("{} against every other method, {}", setting.focus, shown.name),
              .columns = {{.name = "rival"},
                          {.name = "wins", .kind = Kind::kCount},
                          {.name = "ties", .kind = Kind::kCount},
                          {.name = "losses", .kind = Kind::kCount},
                          {.name = "wins after Holm", .kind = Kind::kCount},
                          {.name = "losses after Holm", .kind = Kind::kCount},
                          {.name = "mean difference", .kind = shown.kind},
                          {.name = "median interval width", .kind = shown.kind}}};
  for (const Record& record : compared.records) {
    double sum = 0.0;
    std::vector<double> widths;
    for (const Comparison& one : compared.comparisons) {
      if (one.rival != record.rival) continue;
      sum += one.mean;
      if (one.difference.interval) widths.push_back(one.difference.interval->high - one.difference.interval->low);
    }
    const double count = static_cast<double>(record.wins + record.ties + record.losses);
    std::optional<double> median;
    if (!widths.empty()) {
      std::nth_element(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2), widths.end());
      median = widths[widths.size() / 2];
    }
    table.rows.push_back(
        {record.rival, record.wins, record.ties, record.losses, record.wins_after_holm, record.losses_after_holm, sum / count, median});
  }
  table.notes = {
      "A win: the 95% interval of the paired difference over resampled tasks lies wholly below zero. A tie with a wide interval is "
      "ignorance, not equality: the last column says how wide.",
      "Holm's correction is over all comparisons of this table."};
  return table;
}

Table details(const ComparisonTable& compared, const ShiftSetting& setting, const Shown& shown) {
  Table table{.title = fmt::format("{} minus rival, {}, condition by condition", setting.focus, shown.name),
              .columns = {{.name = "condition"},
                          {.name = "rival"},
                          {.name = "difference", .kind = shown.kind},
                          {.name = "verdict"},
                          {.name = "p", .kind = Kind::kNumber},
                          {.name = "p after Holm", .kind = Kind::kNumber}}};
  for (const Comparison& one : compared.comparisons) {
    report::Estimate difference{one.mean, std::nullopt};
    if (one.difference.interval) difference.interval = {one.difference.interval->low, one.difference.interval->high};
    const char* verdict = one.difference.verdict == Verdict::kWin ? "win" : one.difference.verdict == Verdict::kLoss ? "loss" : "tie";
    table.rows.push_back({one.condition, one.rival, difference, verdict, one.difference.p_value, one.holm_p});
  }
  return table;
}

report::DotPlot picture(std::span<const ConditionResult> conditions) {
  report::DotPlot plot{
      .words = {.title = "ECE by condition and method", .description = "Mean over orderings with 95% intervals over tasks."},
      .value = {.label = "ECE", .percent = true}};
  for (const EntrantResult& entrant : conditions.front().entrants) plot.series.push_back(entrant.label);
  for (const ConditionResult& condition : conditions) {
    report::DotGroup group{.name = condition.name};
    for (const EntrantResult& entrant : condition.entrants) group.values.emplace_back(estimate(entrant, kShown[0]));
    plot.groups.push_back(std::move(group));
  }
  return plot;
}

}  // namespace

Result<report::Report> shift_report(std::span<const ConditionResult> conditions, const ShiftSetting& setting) {
  report::Report report{.title = "Shift"};
  report.summary.push_back(
      fmt::format("{} condition{}, boundary {}: mean over {} orderings (seed {}), {} resamples of the target's tasks, vote {}.",
                  conditions.size(), conditions.size() == 1 ? "" : "s", setting.boundary, setting.options.orderings, setting.options.seed,
                  setting.options.resamples, setting.vote));
  report::Section levels{.heading = "Means"};
  for (const Shown& shown : kShown) levels.tables.push_back(means(conditions, shown));
  levels.figures.push_back(report::figure(picture(conditions), "ECE on the target, by condition and method."));
  report.sections.push_back(std::move(levels));
  if (setting.options.resamples == 0 || conditions.front().entrants.size() < 2) return report;

  report::Section contests{.heading = fmt::format("{} against the others", setting.focus)};
  for (const Shown& shown : kShown) {
    Result<ComparisonTable> compared = compare(conditions, setting.focus, shown.compared);
    if (!compared) return compared.error();
    contests.tables.push_back(records(*compared, setting, shown));
    if (conditions.size() == 1) contests.tables.push_back(details(*compared, setting, shown));
  }
  report.sections.push_back(std::move(contests));
  return report;
}

}  // namespace margin::experiment
