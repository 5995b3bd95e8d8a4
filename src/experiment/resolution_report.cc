#include "experiment/resolution_report.h"

#include "report/dot_plot.h"

namespace margin::experiment {
namespace {

using report::Kind;

const char* name_of(TieRule rule) {
  switch (rule) {
    case TieRule::kHalf: return "half";
    case TieRule::kStrict: return "strict";
    case TieRule::kRaw: return "raw";
  }
  return "";
}

std::string name_of(const ResolutionResult& result) { return fmt::format("{}, {}", result.channel, result.subset); }

report::Table table_of(const ResolutionResult& result) {
  report::Table table{.title = "Pairwise resolution, " + name_of(result),
                      .columns = {{.name = "method"},
                                  {.name = "ties"},
                                  {.name = "resolution", .kind = Kind::kPercent},
                                  {.name = "sd over orderings", .kind = Kind::kPercent},
                                  {.name = "minus raw", .kind = Kind::kPercent},
                                  {.name = "contests", .kind = Kind::kCount},
                                  {.name = "tied", .kind = Kind::kCount},
                                  {.name = "missing", .kind = Kind::kCount},
                                  {.name = "both right", .kind = Kind::kCount},
                                  {.name = "both wrong", .kind = Kind::kCount}}};
  for (const ResolutionRow& row : result.rows) {
    table.rows.push_back({row.label, name_of(row.tie), cell_of(estimate_of(row.resolution)), row.sd, cell_of(row.over_raw), row.contests,
                          row.ties, row.missing, row.both_right, row.both_wrong});
  }
  return table;
}

}  // namespace

report::Report resolution_report(std::span<const ResolutionResult> results, const ResolutionRules& rules, const PassesSetting& setting) {
  report::Report report{.title = "Pairwise resolution"};
  report.summary = summary_of(
      fmt::format("Contests: pairs of responses {}; a missing confidence {}",
                  rules.contest == ContestRule::kPassed ? "of different outcome" : "of different answers, at least one of them right",
                  rules.missing == MissingRule::kHalf ? "counts half" : "leaves the pair out"),
      setting);
  report::DotPlot plot{.words = {.title = "Pairwise resolution", .description = "By channel and models, with 95% intervals over tasks."},
                       .value = {.label = "resolution", .percent = true},
                       .guide = 0.5};
  report::Section section{.heading = "Resolution"};
  for (const ResolutionResult& result : results) {
    section.tables.push_back(table_of(result));
    report::DotGroup group{.name = name_of(result), .values = {}};
    for (const ResolutionRow& row : result.rows) {
      if (&result == &results.front()) {
        const bool raw = &row < result.rows.data() + 2;
        plot.series.push_back(raw ? fmt::format("{}, {}", row.label, name_of(row.tie)) : row.label);
      }
      group.values.push_back(estimate_of(row.resolution));
    }
    plot.groups.push_back(std::move(group));
  }
  section.tables.back().notes.push_back(
      "Ties half: equal confidence counts half; strict: it is left out; raw: it is decided by stated confidence, else left out. Counts of "
      "contests and ties are means over orderings. A method is compared with raw under its own rule.");
  section.figures.push_back(report::figure(plot, "How often the more confident of two models has the better outcome; the line is a coin."));
  report.sections.push_back(std::move(section));
  return report;
}

}  // namespace margin::experiment
