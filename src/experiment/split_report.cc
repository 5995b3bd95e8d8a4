#include "experiment/split_report.h"

#include <chrono>
#include <cmath>

#include "report/dot_plot.h"

namespace margin::experiment {
namespace {

using report::Kind;

// "2024-04-06" or, within a day, "2024-04-06T08:30:00Z".
std::string date_of(double seconds) {
  using std::chrono::floor;
  // Far outside the calendar only the number says anything.
  if (std::fabs(seconds) > 2.5e11) return fmt::format("{} s", seconds);
  const std::chrono::sys_seconds moment{std::chrono::seconds(static_cast<long long>(std::floor(seconds)))};
  const auto day = floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{moment - day};
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                                 static_cast<unsigned>(date.day()));
  if (moment != day) {
    text += fmt::format("T{:02}:{:02}:{:02}Z", time.hours().count(), time.minutes().count(), time.seconds().count());
  }
  return text;
}

report::Table models(const SplitResult& result) {
  report::Table table{.title = "Accuracy of every model, " + result.channel,
                      .columns = {{.name = "model"},
                                  {.name = "early tasks", .kind = Kind::kCount},
                                  {.name = "late tasks", .kind = Kind::kCount},
                                  {.name = "early", .kind = Kind::kPercent},
                                  {.name = "late", .kind = Kind::kPercent},
                                  {.name = "early minus late", .kind = Kind::kPercent}}};
  for (const SplitModel& model : result.models) {
    table.rows.push_back({model.name, model.early_rows, model.late_rows, cell_of(estimate_of(model.accuracy.early)),
                          cell_of(estimate_of(model.accuracy.late)), cell_of(model.accuracy.difference())});
  }
  return table;
}

report::Table methods(const SplitResult& result, const std::string& name, Kind kind, EarlyLate SplitMethod::*metric) {
  report::Table table{
      .title = fmt::format("{} of every method, {}", name, result.channel),
      .columns = {
          {.name = "method"}, {.name = "early", .kind = kind}, {.name = "late", .kind = kind}, {.name = "early minus late", .kind = kind}}};
  for (const SplitMethod& method : result.methods) {
    const EarlyLate& both = method.*metric;
    table.rows.push_back({method.label, cell_of(estimate_of(both.early)), cell_of(estimate_of(both.late)), cell_of(both.difference())});
  }
  return table;
}

report::DotPlot picture(const SplitResult& result) {
  report::DotPlot plot{
      .words = {.title = "Accuracy early and late, " + result.channel, .description = "One row per model, with 95% intervals."},
      .value = {.label = "accuracy", .percent = true},
      .series = {"early", "late"}};
  for (const SplitModel& model : result.models) {
    plot.groups.push_back({.name = model.name, .values = {estimate_of(model.accuracy.early), estimate_of(model.accuracy.late)}});
  }
  return plot;
}

}  // namespace

report::Report split_report(std::span<const SplitResult> results, const PassesSetting& setting) {
  report::Report report{.title = "Split"};
  std::string what;
  for (const SplitResult& result : results) {
    what += fmt::format("{}{}: cut at {}, {} before it and {} from it on", what.empty() ? "" : "; ", result.channel, date_of(result.cut),
                        counted(result.early, "task"), counted(result.late, "task"));
    if (result.without_t > 0) what += fmt::format(" ({} without t left out)", counted(result.without_t, "task"));
    report::Section section{.heading = result.channel, .paragraphs = {}, .tables = {}, .figures = {}};
    section.tables = {models(result), methods(result, "ECE", Kind::kPercent, &SplitMethod::ece),
                      methods(result, "Brier score", Kind::kNumber, &SplitMethod::brier),
                      methods(result, "pass@1", Kind::kPercent, &SplitMethod::pass1)};
    if (setting.options.resamples > 0) {
      section.tables[1].notes = {"Resampled tasks repeat, which makes ECE larger: the intervals lie high."};
    }
    section.figures.push_back(report::figure(picture(result), "Accuracy of every model before and after the cut."));
    report.sections.push_back(std::move(section));
  }
  PassesSetting in_time = setting;
  in_time.order = "in the order of time";
  report.summary = summary_of(what, in_time);
  if (setting.options.orderings > 0) {
    report.summary.emplace_back(
        "Orderings shuffle the early tasks and the late ones apart; methods go on from the early ones into the late.");
  }
  return report;
}

}  // namespace margin::experiment
