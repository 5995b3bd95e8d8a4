#include "experiment/evaluation_report.h"

#include <fmt/format.h>

#include "experiment/evaluation_pictures.h"
#include "experiment/shown.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Kind;
using report::Table;

constexpr std::size_t kDigits = 4;  // of numbers that are no percentages

report::Column column_of(Metric metric) {
  const ShownMetric& how_shown = shown(metric);
  report::Column column{.name = std::string(how_shown.name), .kind = how_shown.kind};
  if (column.kind == Kind::kNumber) column.digits = kDigits;
  return column;
}

// " of CHANNEL" where there are several.
Table scores(const Evaluation& evaluation, std::string title, Scores ScoreSummary::*which) {
  Table table{.title = std::move(title), .columns = {{.name = "method"}}};
  for (std::size_t metric = 0; metric < kMetrics; ++metric) table.columns.push_back(column_of(static_cast<Metric>(metric)));
  for (const MethodEvaluation& method : evaluation.methods) {
    table.rows.push_back({method.label});
    for (const std::optional<double>& value : method.scores.*which) table.rows.back().emplace_back(value);
  }
  return table;
}

Table sureness(const Evaluation& evaluation, std::string title, double max_error) {
  Table table = decision_table(std::move(title), "method", max_error);
  for (const MethodEvaluation& method : evaluation.methods) {
    const DecisionScores& scores = method.decision.value();
    table.rows.push_back({method.label, scores.ece, scores.debiased(), scores.in_band, scores.answered, scores.promised, scores.realised});
  }
  return table;
}

Table part_scores(const Evaluation& evaluation, std::size_t number, Metric metric, const std::string& of_channel) {
  const Breakdown& breakdown = evaluation.breakdowns[number];
  const report::Column shape = column_of(metric);
  Table table{
      .title = fmt::format("{} by {}{}", shape.name, breakdown.by, of_channel),
      .columns = {{.name = breakdown.by}, {.name = "observations", .kind = Kind::kCount}, {.name = "accuracy", .kind = Kind::kPercent}}};
  for (const MethodEvaluation& method : evaluation.methods) {
    table.columns.push_back(shape);
    table.columns.back().name = method.label;
  }
  for (std::size_t p = 0; p < breakdown.parts.size(); ++p) {
    const Part& part = breakdown.parts[p];
    table.rows.push_back({part.name.empty() ? Cell("(none)") : Cell(part.name), part.rows.size(), accuracy_of(evaluation.stream, part)});
    for (const MethodEvaluation& method : evaluation.methods) table.rows.back().emplace_back(method.parts[number][p].mean[metric]);
    if (evaluation.methods.size() > 1) report::mark_best_in_row(table, p, shown(metric).best, 3);
  }
  return table;
}

// "12 rows excluded: no confidence 10 (model-a 7, model-b 3); abstained 2 (model-a 2)."
std::string excluded_words(const Stream& stream) {
  const Excluded total = stream.excluded_total();
  std::string words;
  for (const ExclusionReason& reason : kExclusionReasons) {
    if (total.*reason.count == 0) continue;
    std::string models;
    for (std::size_t model = 0; model < stream.models.size(); ++model) {
      const std::size_t count = stream.excluded[model].*reason.count;
      if (count == 0) continue;
      models += fmt::format("{}{} {}", models.empty() ? "" : ", ", report::visible(stream.models[model]),
                            report::with_commas(static_cast<double>(count)));
    }
    words += fmt::format("{}{} {} ({})", words.empty() ? "" : "; ", reason.words,
                         report::with_commas(static_cast<double>(total.*reason.count)), models);
  }
  return fmt::format("{} excluded: {}.", counted(total.total(), "row"), words);
}

}  // namespace

report::Report evaluation_report(std::span<const Evaluation> evaluations, const PassesSetting& setting, std::optional<double> max_error) {
  report::Report report{.title = "Replay"};
  const bool several = evaluations.size() > 1;
  for (const Evaluation& evaluation : evaluations) {
    const Stream& stream = evaluation.stream;
    const std::string rows = fmt::format("{} of {} on {}", counted(stream.rows(), "observation"), counted(stream.models.size(), "model"),
                                         counted(stream.task_count, "task"));
    for (std::string& paragraph : summary_of(several ? stream.channel + ": " + rows : rows, setting)) {
      report.summary.push_back(std::move(paragraph));
    }
    if (stream.excluded_total().total() > 0) report.summary.push_back(excluded_words(stream));
    if (stream.ungraded > 0) {
      report.summary.push_back(
          fmt::format("{} without an outcome: predicted, neither learned nor scored.", counted(stream.ungraded, "row")));
    }

    const std::string of_channel = several ? ", " + stream.channel : "";
    report::Section section{.heading = stream.channel, .paragraphs = {}, .tables = {}, .figures = {}};
    section.tables.push_back(scores(evaluation, "Scores by method" + of_channel, &ScoreSummary::mean));
    for (std::size_t metric = 0; metric < kMetrics && evaluation.methods.size() > 1; ++metric) {
      report::mark_best_in_column(section.tables.back(), metric + 1, shown(static_cast<Metric>(metric)).best);
    }
    if (setting.options.orderings > 1) {
      section.tables.push_back(scores(evaluation, "Their standard deviation over orderings" + of_channel, &ScoreSummary::sd));
    }
    if (max_error) section.tables.push_back(sureness(evaluation, "The decision's own probability" + of_channel, *max_error));
    for (std::size_t b = 0; b < evaluation.breakdowns.size(); ++b) {
      for (const Metric metric : metrics_of(evaluation.breakdowns[b].parts.front())) {
        if (metric == kEcePerModel || metric == kResolution) continue;
        section.tables.push_back(part_scores(evaluation, b, metric, of_channel));
      }
    }
    if (!evaluation.methods.empty() && evaluation.methods.front().first) section.figures = pictures_of(evaluation, setting);
    report.sections.push_back(std::move(section));
  }
  return report;
}

}  // namespace margin::experiment
