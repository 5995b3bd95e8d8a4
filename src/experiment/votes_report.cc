#include "experiment/votes_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/passes_report.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Kind;

report::Column percent_column(std::string name) { return {.name = std::move(name), .kind = Kind::kPercent}; }
report::Column count_column(std::string name) { return {.name = std::move(name), .kind = Kind::kCount}; }
bool is_vote(const VotesGroup::Line& line) { return line.realised.value.has_value(); }

report::Table pass1_table(const VotesGroup& group, const std::vector<VotesGroup::Line>& lines, const std::string& focus) {
  report::Table table{.title = group.name() + ": pass@1",
                      .columns = {{.name = "selected by"},
                                  percent_column("pass@1"),
                                  percent_column(focus + " minus it"),
                                  count_column("wins"),
                                  count_column("ties"),
                                  count_column("losses"),
                                  count_column("wins after Holm"),
                                  count_column("losses after Holm"),
                                  percent_column(fmt::format("first {} tasks", kFirstTasks)),
                                  percent_column(fmt::format("{} minus it, first {}", focus, kFirstTasks)),
                                  percent_column("kept pace"),
                                  percent_column("worst pace")}};
  const ComparisonTable compared = group.comparisons();
  for (const VotesGroup::Line& line : lines) {
    std::vector<Cell> cells = {line.label, line.pass1, cell_of(line.difference)};
    const auto record =
        std::find_if(compared.records.begin(), compared.records.end(), [&](const Record& r) { return r.rival == line.label; });
    if (record == compared.records.end()) {
      cells.resize(cells.size() + 5);
    } else {
      for (const std::size_t n : {record->wins, record->ties, record->losses, record->wins_after_holm, record->losses_after_holm}) {
        cells.emplace_back(n);
      }
    }
    cells.push_back(is_vote(line) ? Cell(line.first) : Cell());
    cells.push_back(cell_of(line.first_difference));
    cells.push_back(line.paced > 0 ? Cell(line.kept_pace) : Cell());
    cells.push_back(line.paced > 0 ? Cell(line.kept_pace_worst) : Cell());
    table.rows.push_back(std::move(cells));
  }
  table.notes.push_back(fmt::format(
      "{} conditions, which weigh alike. Wins, ties and losses are those of {}; Holm's correction is over this table. First {} tasks: of "
      "the source, from nothing, with intervals over its resampled tasks. Kept pace: pass@1 in tasks {} to {} of the target, minus that of "
      "a vote started at the target. A single model is compared on the tasks that it answered.",
      group.conditions(), focus, kFirstTasks, kSettled, 2 * kSettled));
  return table;
}

report::Table sureness_table(const VotesGroup& group, const std::vector<VotesGroup::Line>& lines, double max_error) {
  report::Table table = decision_table(group.name() + ": the decision's own probability", "vote", max_error);
  for (const VotesGroup::Line& line : lines) {
    if (!is_vote(line)) continue;
    table.rows.push_back(
        {line.label, line.ece, line.debiased, line.in_band, line.answered, line.promised, cell_of(estimate_of(line.realised))});
  }
  return table;
}

}  // namespace

report::Report votes_report(std::span<const VotesGroup> groups, const VotesOptions& options, const std::string& focus) {
  report::Report report{.title = "Votes"};
  report.summary.push_back(
      fmt::format("Mean over {} orderings (seed {}), {} resamples of the target's tasks{}. Method and vote learn on the source and go on.",
                  options.orderings, options.seed, options.resamples, outcome_words(options.pass)));
  for (const VotesGroup& group : groups) {
    const std::vector<VotesGroup::Line> lines = group.lines();
    report.sections.push_back({.heading = group.name(),
                               .paragraphs = {},
                               .tables = {pass1_table(group, lines, focus), sureness_table(group, lines, options.max_error)},
                               .figures = {}});
  }
  return report;
}

}  // namespace margin::experiment
