#include "experiment/gaming_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "margin/metric.h"

namespace margin::experiment {
namespace {

using report::Kind;

// A share with Wilson's 95% interval.
report::Estimate share(std::uint64_t count, std::uint64_t of) {
  const double p = static_cast<double>(count) / static_cast<double>(of);
  const Interval interval = wilson_interval(p, of);
  return {p, report::Interval{interval.low, interval.high}};
}

report::Cell quantile(const std::vector<std::uint64_t>& ascending, double q) {
  if (ascending.empty()) return {};
  const auto last = static_cast<double>(ascending.size() - 1);
  return ascending[static_cast<std::size_t>(std::lround(q * last))];
}

std::string name_of(std::uint32_t subject, const WatchedStream& stream) {
  return subject == WatchReport::kPool ? "(pool)" : subject == WatchReport::kNobody ? "" : stream.models[subject];
}

report::Table reports_of(const WatchedStream& stream) {
  report::Table table{.title = fmt::format("Reports, {}", stream.channel),
                      .columns = {{.name = "kind"},
                                  {.name = "model"},
                                  {.name = "with"},
                                  {.name = "since task", .kind = Kind::kCount},
                                  {.name = "reported at", .kind = Kind::kCount},
                                  {.name = "last", .kind = Kind::kCount},
                                  {.name = "times", .kind = Kind::kCount},
                                  {.name = "clock", .kind = Kind::kCount},
                                  {.name = "observed", .kind = Kind::kPercent},
                                  {.name = "reference", .kind = Kind::kPercent},
                                  {.name = "tolerated", .kind = Kind::kPercent},
                                  {.name = "observations", .kind = Kind::kCount},
                                  {.name = "evidence", .kind = Kind::kNumber, .digits = 1},
                                  {.name = "threshold", .kind = Kind::kNumber, .digits = 1}}};
  for (const WatchReport& report : stream.reports) {
    table.rows.push_back({watch_kind_name(report.kind), name_of(report.subject, stream), name_of(report.other, stream), report.since,
                          report.at, report.last, report.times, report.clock == 0 ? report::Cell() : report::Cell(report.clock),
                          report.observed, report.reference, report.tolerated, report.observations, report.evidence, report.threshold});
  }
  if (stream.dropped > 0) table.notes.push_back(fmt::format("{} older reports made room for these.", stream.dropped));
  return table;
}

report::Table clocks_of(const WatchedStream& stream) {
  report::Table table{.title = fmt::format("Clocks of {}, {}", kClocked, stream.channel),
                      .columns = {{.name = "model"},
                                  {.name = "at task", .kind = Kind::kCount},
                                  {.name = "clock", .kind = Kind::kNumber, .digits = 0},
                                  {.name = "beats", .kind = Kind::kNumber, .digits = 0},
                                  {.name = "evidence", .kind = Kind::kNumber, .digits = 2},
                                  {.name = "threshold", .kind = Kind::kNumber, .digits = 2}}};
  for (const ClockAlarmAt& at : stream.clocks) {
    table.rows.push_back({at.alarm.model == ClockAlarm::kPool ? "(pool)" : stream.models[at.alarm.model], at.task, at.alarm.clock,
                          at.alarm.slower, at.alarm.evidence, at.alarm.threshold});
  }
  table.notes.push_back(
      "Clocks are memories in outcomes. One that kept predicting better than the next slower one overwrote that and all slower ones: of "
      "the "
      "model, or of everybody.");
  return table;
}

// How often the clocks of a calibrator notice what happens in the middle, and how often there is nothing to notice.
report::Table clocks_of(std::span<const GamingResult> results, const GamingOptions& options) {
  const std::string soon = fmt::format("{} tasks", ClockTally::kSoon);
  report::Table table{.title = fmt::format("Clocks of {}", kClocked),
                      .columns = {{.name = "pool"},
                                  {.name = "what happens in the middle"},
                                  {.name = "whose clock"},
                                  {.name = "per 1,000 tasks, first half", .kind = Kind::kNumber, .digits = 3},
                                  {.name = "second half", .kind = Kind::kNumber, .digits = 3},
                                  {.name = "runs with one in the " + soon + " before", .kind = Kind::kPercent},
                                  {.name = "in the " + soon + " after", .kind = Kind::kPercent},
                                  {.name = "median delay in tasks", .kind = Kind::kCount},
                                  {.name = "90% within", .kind = Kind::kCount}}};
  for (const GamingResult& result : results) {
    const double half = 0.5 * static_cast<double>(options.tasks) * static_cast<double>(result.runs);
    for (const ClockTally& tally : result.clocks) {
      table.rows.push_back({result.scenario.name, result.scenario.words, tally.whose, 1000.0 * static_cast<double>(tally.alarms[0]) / half,
                            1000.0 * static_cast<double>(tally.alarms[1]) / half, share(tally.soon[0], result.runs),
                            share(tally.soon[1], result.runs), quantile(tally.delays, 0.5), quantile(tally.delays, 0.9)});
    }
  }
  table.notes.push_back("Delays are to the first alarm after the middle, of the runs that have one, whatever raised it.");
  return table;
}

std::string promise(const WatchOptions& options) {
  return fmt::format("For each kind at most {:g} false reports are expected per 1,000 tasks.", 1000.0 * options.false_reports_per_task);
}

}  // namespace

report::Report watch_report(std::span<const WatchedStream> streams, const WatchOptions& options) {
  report::Report report{.title = "Drift and gaming"};
  report.summary = {"Tasks in file order, every outcome known at once. Reports are hints to look, nothing acts on them. " +
                    promise(options)};
  for (const WatchedStream& stream : streams) {
    report::Section section{.heading = stream.channel};
    section.paragraphs.push_back(
        fmt::format("Models: {}, tasks: {}, reports: {}.", stream.models.size(), stream.tasks, stream.reports.size()));
    section.tables.push_back(reports_of(stream));
    section.tables.push_back(clocks_of(stream));
    report.sections.push_back(std::move(section));
  }
  return report;
}

report::Report gaming_report(std::span<const GamingResult> results, const GamingOptions& options) {
  report::Report report{.title = "Simulated attackers before the watch"};
  report.summary = {fmt::format("{} runs of {} tasks each, synthetic; attackers begin in the middle. {}", options.runs, options.tasks,
                                promise(options.watch))};
  report::Table attackers{.title = "Attackers",
                          .columns = {{.name = "attacker"},
                                      {.name = "what it does"},
                                      {.name = "reported as"},
                                      {.name = "found", .kind = Kind::kPercent},
                                      {.name = "median delay in tasks", .kind = Kind::kCount},
                                      {.name = "90% within", .kind = Kind::kCount}}};
  report::Table innocent{.title = "Runs with a report about somebody who did not do that", .columns = {{.name = "pool"}}};
  for (std::size_t kind = 0; kind < kWatchKinds; ++kind) {
    innocent.columns.push_back({.name = std::string(watch_kind_name(static_cast<WatchKind>(kind))), .kind = Kind::kCount});
  }
  innocent.columns.push_back({.name = "gaming, worst kind", .kind = Kind::kPercent});
  for (const GamingResult& result : results) {
    if (result.scenario.kind) {
      attackers.rows.push_back({result.scenario.name, result.scenario.words, watch_kind_name(*result.scenario.kind),
                                share(result.found, result.runs), quantile(result.delays, 0.5), quantile(result.delays, 0.9)});
    }
    std::vector<report::Cell> row = {result.scenario.name};
    for (const std::uint64_t runs : result.reported) row.emplace_back(runs);
    row.emplace_back(share(*std::max_element(result.reported.begin() + 1, result.reported.end()), result.runs));
    innocent.rows.push_back(std::move(row));
  }
  innocent.notes.push_back("Drift is a true report where accuracy changes: drift, abrupt, sawtooth, defector, latecomer and copyist.");
  report::Section section{.heading = "Results"};
  section.tables = {std::move(attackers), std::move(innocent), clocks_of(results, options)};
  report.sections.push_back(std::move(section));
  return report;
}

}  // namespace margin::experiment
