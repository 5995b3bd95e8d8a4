#include "experiment/inversion_report.h"

#include <algorithm>

#include "report/dot_plot.h"

namespace margin::experiment {
namespace {

using report::Kind;

report::Table correlations(const InversionResult& result) {
  report::Table table{
      .title = "Between models: mean confidence and accuracy, " + result.channel,
      .columns = {{.name = "models"}, {.name = "number", .kind = Kind::kCount}, {.name = "Pearson r", .kind = Kind::kNumber}}};
  for (const Correlation& one : result.correlations) table.rows.push_back({one.subset, one.models, cell_of(estimate_of(one.r))});
  table.notes = {"Below zero the more confident models are the worse ones."};
  return table;
}

report::Table ties(const InversionResult& result, std::size_t model_orders) {
  report::Table table{.title = "Ties and what they cost, " + result.channel,
                      .columns = {{.name = "method"},
                                  {.name = "tied picks", .kind = Kind::kPercent},
                                  {.name = "tied contests", .kind = Kind::kPercent},
                                  {.name = "factor of the top band", .kind = Kind::kNumber},
                                  {.name = "lowest pass@1", .kind = Kind::kPercent},
                                  {.name = "highest pass@1", .kind = Kind::kPercent},
                                  {.name = "span", .kind = Kind::kPercent}}};
  for (const MethodTies& method : result.methods) {
    const Spread& pass1 = method.pass1;
    const std::optional<double> span = pass1.low ? std::optional(*pass1.high - *pass1.low) : std::nullopt;
    table.rows.push_back({method.label, method.tied_picks, method.tied_contests, method.top_factor, pass1.low, pass1.high, span});
  }
  table.notes = {
      "Tied picks: tasks whose largest confidence several models share. Tied contests: of the pairs with different outcomes. The factor is "
      "the mean over models at the end of a pass.",
      fmt::format("pass@1 over {} of the models within tasks, tasks in file order.", counted(model_orders, "order"))};
  return table;
}

std::vector<ModelLevel> by_accuracy(const InversionResult& result) {
  std::vector<ModelLevel> levels = result.levels;
  std::stable_sort(levels.begin(), levels.end(), [](const ModelLevel& a, const ModelLevel& b) { return a.accuracy > b.accuracy; });
  return levels;
}

report::Table levels(const InversionResult& result) {
  report::Table table{.title = "Every model, best first, " + result.channel,
                      .columns = {{.name = "model"},
                                  {.name = "responses", .kind = Kind::kCount},
                                  {.name = "mean confidence", .kind = Kind::kPercent},
                                  {.name = "accuracy", .kind = Kind::kPercent},
                                  {.name = "confidence minus accuracy", .kind = Kind::kPercent}}};
  for (const ModelLevel& level : by_accuracy(result)) {
    const std::optional<double> gap = level.accuracy ? std::optional(*level.confidence - *level.accuracy) : std::nullopt;
    table.rows.push_back({level.name, level.rows, level.confidence, level.accuracy, gap});
  }
  return table;
}

report::DotPlot picture(const InversionResult& result) {
  report::DotPlot plot{
      .words = {.title = "Mean confidence beside accuracy, " + result.channel, .description = "One row per model, best first."},
      .value = {.label = "mean", .percent = true},
      .series = {"mean confidence", "accuracy"}};
  for (const ModelLevel& level : by_accuracy(result)) {
    plot.groups.push_back({.name = level.name, .values = {estimate_of(level.confidence, {}), estimate_of(level.accuracy, {})}});
  }
  return plot;
}

}  // namespace

report::Report inversion_report(std::span<const InversionResult> results, std::size_t model_orders, const PassesSetting& setting) {
  report::Report report{.title = "Inversion"};
  std::string what;
  for (const InversionResult& result : results) {
    what += fmt::format("{}{}: {} of {} on {}", what.empty() ? "" : "; ", result.channel, counted(result.rows, "response"),
                        counted(result.levels.size(), "model"), counted(result.tasks, "task"));
    report::Section section{.heading = result.channel, .paragraphs = {}, .tables = {}, .figures = {}};
    section.tables = {correlations(result), ties(result, model_orders), levels(result)};
    section.figures.push_back(report::figure(picture(result), "What models say of themselves and what they reach."));
    report.sections.push_back(std::move(section));
  }
  report.summary = summary_of(what, setting);
  return report;
}

}  // namespace margin::experiment
