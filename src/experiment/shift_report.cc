#include "experiment/shift_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/passes_report.h"
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

report::Estimate estimate(const EntrantResult& entrant, const Shown& shown) {
  report::Estimate result{entrant.scores.mean[shown.metric].value_or(0.0), std::nullopt};
  if (const auto interval = percentile_interval(resampled_of(entrant, shown.compared))) result.interval = {interval->low, interval->high};
  return result;
}

// The longer of the two lists goes down the page: a row per condition and a column per method, or the other way round; and the mean over
// conditions at the end.
Table means(std::span<const ConditionResult> conditions, const Shown& shown) {
  const std::vector<EntrantResult>& entrants = conditions.front().entrants;
  const bool methods_down = entrants.size() > conditions.size();
  std::vector<std::string> names;
  std::vector<std::vector<Cell>> cells;  // by condition, then method
  for (const ConditionResult& condition : conditions) {
    names.push_back(condition.name);
    cells.emplace_back();
    for (const EntrantResult& entrant : condition.entrants) cells.back().emplace_back(entrant.scores.mean[shown.metric]);
  }
  if (conditions.size() > 1) {
    names.emplace_back("mean");
    cells.emplace_back();
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      double sum = 0.0;
      for (const ConditionResult& condition : conditions) sum += condition.entrants[i].scores.mean[shown.metric].value_or(0.0);
      cells.back().emplace_back(sum / static_cast<double>(conditions.size()));
    }
  }

  Table table{.title = fmt::format("Mean {} on the target", shown.name), .columns = {{.name = methods_down ? "method" : "condition"}}};
  if (methods_down) {
    for (const std::string& name : names) table.columns.push_back({.name = name, .kind = shown.kind});
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      table.rows.push_back({entrants[i].label});
      for (const std::vector<Cell>& condition : cells) table.rows.back().push_back(condition[i]);
    }
    for (std::size_t column = 1; column < table.columns.size(); ++column) report::mark_best_in_column(table, column, report::Best::kLowest);
  } else {
    for (const EntrantResult& entrant : entrants) table.columns.push_back({.name = entrant.label, .kind = shown.kind});
    for (std::size_t c = 0; c < cells.size(); ++c) {
      table.rows.push_back({names[c]});
      table.rows.back().insert(table.rows.back().end(), cells[c].begin(), cells[c].end());
      report::mark_best_in_row(table, c, report::Best::kLowest);
    }
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

// A row per method, over all conditions of the group.
Table group_means(const ShiftGroup& group) {
  Table table{.title = fmt::format("{}: means over {} condition{}", group.name(), group.conditions(), group.conditions() == 1 ? "" : "s"),
              .columns = {{.name = "method"}}};
  for (const Shown& shown : kShown) table.columns.push_back({.name = shown.name, .kind = shown.kind});
  const std::vector<std::string> entrants = group.entrants();
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(entrants[i]);
    for (const Shown& shown : kShown) row.emplace_back(group.mean(i, shown.compared));
  }
  for (std::size_t column = 1; column < table.columns.size(); ++column) report::mark_best_in_column(table, column, report::Best::kLowest);
  return table;
}

// One line per metric: how much is lost or won in all, and how the mean does beside the best of the others.
Table group_verdict(const ShiftGroup& group, const ShiftSetting& setting) {
  Table table{.title = fmt::format("{}: {} in short", group.name(), setting.focus),
              .columns = {{.name = "metric"},
                          {.name = "comparisons", .kind = Kind::kCount},
                          {.name = "wins", .kind = Kind::kPercent},
                          {.name = "losses", .kind = Kind::kPercent},
                          {.name = "losses after Holm", .kind = Kind::kCount},
                          {.name = "best rival"},
                          {.name = "minus best rival (x 100)", .kind = Kind::kNumber}}};
  for (const Shown& shown : kShown) {
    const ComparisonTable compared = group.comparisons(shown.compared);
    Record all;
    for (const Record& record : compared.records) {
      all.wins += record.wins, all.losses += record.losses, all.losses_after_holm += record.losses_after_holm;
    }
    const auto count = static_cast<double>(compared.comparisons.size());
    const ShiftGroup::Contest contest = group.against_best(shown.compared);
    report::Estimate difference{100.0 * contest.mean, std::nullopt};
    if (const auto& interval = contest.interval) difference.interval = {100.0 * interval->low, 100.0 * interval->high};
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(std::string(shown.name));
    row.emplace_back(compared.comparisons.size());
    row.emplace_back(static_cast<double>(all.wins) / count);
    row.emplace_back(static_cast<double>(all.losses) / count);
    row.emplace_back(all.losses_after_holm);
    row.emplace_back(contest.rival);
    row.emplace_back(difference);
  }
  table.notes = {
      "The best rival is the other method with the lowest mean; the interval is of the mean difference, as wide as "
      "resamples of the tasks vary and centred on it, since resampling itself inflates ECE."};
  return table;
}

}  // namespace

report::Report shift_pools_report(std::span<const ShiftGroup> groups, const ShiftSetting& setting) {
  report::Report report{.title = "Shift in pools of several sizes"};
  report.summary.push_back(
      fmt::format("Boundary {}: mean over {} orderings (seed {}), {} resamples of the target's tasks. Conditions of a size weigh alike.",
                  setting.boundary, setting.options.orderings, setting.options.seed, setting.options.resamples));
  for (const ShiftGroup& group : groups) {
    report::Section section{.heading = group.name()};
    section.tables.push_back(group_means(group));
    if (setting.options.resamples > 0 && group.entrants().size() > 1) {
      section.tables.push_back(group_verdict(group, setting));
      for (const Shown& shown : kShown) {
        section.tables.push_back(records(group.comparisons(shown.compared), setting, shown));
        section.tables.back().title = group.name() + ": " + section.tables.back().title;
      }
    }
    report.sections.push_back(std::move(section));
  }
  return report;
}

Result<report::Report> shift_report(std::span<const ConditionResult> conditions, const ShiftSetting& setting) {
  report::Report report{.title = "Shift"};
  report.summary.push_back(
      fmt::format("{} condition{}, boundary {}: mean over {} orderings (seed {}), {} resamples of the target's tasks, vote {}{}.",
                  conditions.size(), conditions.size() == 1 ? "" : "s", setting.boundary, setting.options.orderings, setting.options.seed,
                  setting.options.resamples, setting.vote, outcome_words(setting.options.pass)));
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
