#include "experiment/selection_report.h"

#include "report/dot_plot.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Kind;

struct Row {
  std::string name;
  const Contender* contender;
  bool vote;
};

std::vector<Row> rows_of(const SelectionResult& result) {
  std::vector<Row> rows;
  for (const Contender& vote : result.votes) rows.push_back({vote.label + " vote", &vote, true});
  rows.push_back({"random model", &result.random, false});
  if (result.best_single) rows.push_back({"best single, in hindsight: " + result.best_single->label, &*result.best_single, false});
  if (result.committed) rows.push_back({"best single, committed: " + result.committed->label, &*result.committed, false});
  rows.push_back({"oracle", &result.oracle, false});
  return rows;
}

report::Table table_of(const SelectionResult& result) {
  const Measured& raw = result.votes.front().pass1;
  const auto percent = [](std::string name) { return report::Column{.name = std::move(name), .kind = Kind::kPercent}; };
  report::Table table{.title = "pass@1, " + result.name,
                      .columns = {{.name = "selected by"},
                                  percent("pass@1"),
                                  percent("sd over orderings"),
                                  percent("minus raw"),
                                  percent("gap closed from raw"),
                                  percent("minus best single"),
                                  percent("gap closed from best single")}};
  if (result.committed) table.columns.push_back(percent("minus committed"));
  table.columns.push_back({.name = "tasks", .kind = Kind::kCount});
  for (const Row& row : rows_of(result)) {
    const Measured& ours = row.contender->pass1;
    const bool is_raw = &ours == &raw;
    std::vector<Cell> cells = {row.name, cell_of(estimate_of(ours)), row.contender->sd, is_raw ? Cell() : cell_of(difference_of(ours, raw)),
                               row.vote && !is_raw ? cell_of(gap_closed_estimate(ours, raw, result.oracle.pass1)) : Cell()};
    const bool against_best = result.best_single && row.vote;
    cells.push_back(against_best ? cell_of(difference_of(ours, result.best_single->pass1)) : Cell());
    cells.push_back(against_best ? cell_of(gap_closed_estimate(ours, result.best_single->pass1, result.oracle.pass1)) : Cell());
    if (result.committed) cells.push_back(row.vote ? cell_of(difference_of(ours, result.committed->pass1)) : Cell());
    cells.emplace_back(row.contender->tasks);
    table.rows.push_back(std::move(cells));
  }
  table.notes.push_back(
      "Gap closed: 0% is no better than the base, 100% as good as the oracle, which always picks a right answer if there is one.");
  if (!result.best_single) table.notes.push_back("Best single is undefined: no task has a graded response of every model.");
  return table;
}

report::DotPlot picture(const SelectionResult& result) {
  report::DotPlot plot{
      .words = {.title = "pass@1, " + result.name, .description = "Each way to select an answer, with 95% intervals over tasks."},
      .value = {.label = "pass@1", .percent = true},
      .series = {"pass@1"}};
  for (const Row& row : rows_of(result)) plot.groups.push_back({.name = row.name, .values = {estimate_of(row.contender->pass1)}});
  plot.guide = result.votes.front().pass1.value;
  return plot;
}

}  // namespace

report::Report selection_report(std::span<const SelectionResult> results, const PassesSetting& setting) {
  report::Report report{.title = "Selection"};
  std::string what;
  for (const SelectionResult& result : results) {
    what += fmt::format("{}{}: {} of {} on {}", what.empty() ? "" : "; ", result.name, counted(result.rows, "response"),
                        counted(result.models, "model"), counted(result.tasks, "task"));
    report::Section section{.heading = result.name, .paragraphs = {}, .tables = {table_of(result)}, .figures = {}};
    section.figures.push_back(report::figure(picture(result), "pass@1 of every way to select; the line is the raw vote."));
    report.sections.push_back(std::move(section));
  }
  report.summary = summary_of(what, setting);
  return report;
}

}  // namespace margin::experiment
