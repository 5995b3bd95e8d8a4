#include "experiment/doctor_report.h"

#include <algorithm>

#include "experiment/doctor_words.h"
#include "report/dot_plot.h"
#include "report/line_chart.h"
#include "report/reliability_diagram.h"

namespace margin::experiment {
namespace {

using report::Cell;
using report::Kind;

report::Column percent(std::string name) { return {.name = std::move(name), .kind = Kind::kPercent, .digits = 1}; }
report::Column count(std::string name) { return {.name = std::move(name), .kind = Kind::kCount}; }

std::string_view usable_name(Health health) {
  switch (health) {
    case Health::kOk: return "yes";
    case Health::kWarn: return "yes, with remarks";
    case Health::kBad: return "no";
  }
  return "";
}

report::Table answers(const Diagnosis& found) {
  return {.title = "Answers",
          .columns = {{.name = "question"}, {.name = "answer"}},
          .rows = {{"is the log usable for calibration?", usable_name(found.facts.for_calibration())},
                   {"is the log usable for voting?", usable_name(found.facts.for_voting())},
                   {"would calibration help?", name_of(found.calibration_answer())},
                   {"would voting help?", name_of(found.voting_answer())}},
          .notes = {}};
}

report::Table checks(const LogFacts& facts) {
  report::Table table{.title = "What the log has",
                      .columns = {{.name = "what"}, {.name = "judgement"}, count("has"), count("of"), percent("share")}};
  for (const LogCheck& check : facts.checks) {
    const Cell share = check.of == 0 ? Cell() : Cell(static_cast<double>(check.count) / static_cast<double>(check.of));
    table.rows.push_back({name_of(check.aspect), name_of(check.health), check.count, check.of, share});
  }
  return table;
}

report::Table excluded(const LogFacts& facts) {
  report::Table table{.title = "Rows that cannot be used",
                      .columns = {{.name = "model"}, count("no confidence"), count("no answer"), count("abstained")}};
  for (std::size_t model = 0; model < facts.models.size(); ++model) {
    const Excluded& one = facts.excluded[model];
    if (one.total() > 0) table.rows.push_back({facts.models[model], one.no_confidence, one.no_answer, one.abstained});
  }
  return table;
}

report::Table calibration(const Diagnosis& found) {
  const auto number = [](std::string name) { return report::Column{.name = std::move(name), .kind = Kind::kNumber, .digits = 4}; };
  report::Table table{.title = "Stated and calibrated confidence",
                      .columns = {{.name = "confidence"},
                                  {.name = "does it help?"},
                                  percent("ECE"),
                                  percent("ECE minus stated"),
                                  number("Brier"),
                                  number("Brier minus stated"),
                                  number("log loss"),
                                  number("log loss minus stated")}};
  const auto row = [&](const std::string& name, const CalibrationFindings& one, Measured Contrast::*level, bool stated) {
    std::vector<Cell> cells = {name, stated ? Cell() : Cell(name_of(one.answer()))};
    for (const Contrast* contrast : {&one.ece, &one.brier, &one.log_loss}) {
      cells.emplace_back((contrast->*level).value);
      cells.push_back(stated ? Cell() : cell_of(contrast->difference));
    }
    table.rows.push_back(std::move(cells));
  };
  row("stated", found.calibration.front(), &Contrast::base, true);
  for (const CalibrationFindings& one : found.calibration) row(one.method, one, &Contrast::ours, false);
  table.notes = {
      "ECE: average distance between confidence and how often it is right. Brier and log loss also reward telling right answers from wrong "
      "ones. For all, less is better.",
      "Help is claimed only when the intervals of ECE and Brier lie wholly below zero and the change of ECE may be as large as --effect."};
  return table;
}

report::Table levels(std::string title, std::string what, std::span<const Level> all) {
  report::Table table{.title = std::move(title),
                      .columns = {{.name = std::move(what)},
                                  count("outcomes"),
                                  percent("stated"),
                                  percent("right"),
                                  percent("stated too high by"),
                                  percent("calibrated"),
                                  percent("calibrated too high by")}};
  for (const Level& level : all) {
    const Gap &stated = level.stated, &calibrated = level.calibrated;
    if (stated.rows == 0) continue;
    table.rows.push_back({level.name, stated.rows, stated.confidence, stated.accuracy, cell_of(estimate_of(stated.gap)),
                          calibrated.confidence, cell_of(estimate_of(calibrated.gap))});
  }
  return table;
}

report::Table voting(const VotingFindings& found) {
  report::Table table{.title = "The calibrated vote against the alternatives",
                      .columns = {{.name = "alternative"},
                                  {.name = "model"},
                                  percent("vote right"),
                                  percent("alternative right"),
                                  percent("vote minus alternative"),
                                  count("tasks"),
                                  {.name = "is the vote better?"}}};
  const auto row = [&](const char* name, const std::string& model, const Contrast& contrast) {
    if (contrast.answer == Answer::kNotThere) return;
    table.rows.push_back(
        {name, model, contrast.ours.value, contrast.base.value, cell_of(contrast.difference), contrast.tasks, name_of(contrast.answer)});
  };
  row("the same vote with stated confidence", "", found.over_raw_vote);
  row("chosen on the first half, judged on the second", found.committed_model, found.over_committed);
  row("best in hindsight", found.best_single_model, found.over_best_single);
  row("a model picked at random", "", found.over_random);
  table.notes = {fmt::format("The vote is calibrated by {}. Each comparison is over the tasks where both have an outcome.", found.method)};
  return table;
}

report::Table needs(const Diagnosis& found) {
  report::Table table{.title = "Tasks needed to know",
                      .columns = {{.name = "comparison"},
                                  percent("seen so far"),
                                  percent("standard error"),
                                  count("tasks in the log"),
                                  count("needed if that is true"),
                                  count(fmt::format("needed for {} points", report::fixed(100.0 * found.effect, 1)))}};
  const auto row = [&](const std::string& name, const Contrast& contrast) {
    if (!contrast.difference) return;
    table.rows.push_back({name, cell_of(contrast.difference), contrast.standard_error, contrast.tasks, contrast.tasks_for_observed,
                          contrast.tasks_for_effect});
  };
  for (const CalibrationFindings& one : found.calibration) row("ECE, " + one.method, one.ece);
  if (found.voting) {
    row("vote against stated confidence", found.voting->over_raw_vote);
    row("vote against the model chosen early", found.voting->over_committed);
    row("vote against the best in hindsight", found.voting->over_best_single);
  }
  table.notes = {
      "Tasks with outcomes of all models, at which a 95% interval leaves zero out with 80% chance; the standard error is taken to fall "
      "with "
      "the root of the number of tasks."};
  return table;
}

report::Table settling(const Settling& found) {
  report::Table table{.title = "Calibration error by outcomes learned", .columns = {count("outcomes per model, from"), percent("ECE")}};
  for (const Settling::Stage& stage : found.stages) table.rows.push_back({stage.outcomes, stage.ece});
  return table;
}

report::Table changes(const Diagnosis& found) {
  report::Table table{
      .title = "Confidence minus accuracy, first half and second",
      .columns = {{.name = "model"}, percent("first half"), percent("second half"), percent("change"), {.name = "changed?"}}};
  const auto row = [&](const Change& change) {
    table.rows.push_back(
        {change.name, change.early.gap.value, change.late.gap.value, cell_of(change.difference), change.changed ? "yes" : "not visibly"});
  };
  row(found.overall);
  for (const Change& change : found.changes) row(change);
  table.notes = {"Of stated confidence. For single models: after Holm's correction for their number."};
  return table;
}

report::ReliabilityPanel panel(std::string name, const std::optional<double>& ece, std::span<const ReliabilityBin> bins) {
  report::ReliabilityPanel panel{.name = std::move(name), .ece = ece, .bins = {}};
  for (const ReliabilityBin& bin : bins) {
    panel.bins.push_back({.range = {bin.low, bin.high},
                          .confidence = bin.mean_probability,
                          .accuracy = {bin.mean_outcome, report::Interval{bin.outcome_low, bin.outcome_high}},
                          .count = bin.count});
  }
  return panel;
}

report::Figure reliability(const Diagnosis& found) {
  const CalibrationFindings& first = found.calibration.front();
  report::ReliabilityDiagram diagram{
      .words = {.title = "How often models are right, by confidence",
                .description = "Points on the diagonal mean what they say; below it confidence is too high."},
      .panels = {panel("stated", first.ece.base.value, found.stated), panel(first.method, first.ece.ours.value, found.calibrated)}};
  return report::figure(diagram,
                        "On the diagonal a confidence means what it says; below it, it is too high. Bars below: how many responses.");
}

report::Figure models(const Diagnosis& found) {
  report::DotPlot plot;
  plot.words = {.title = "What models say and what they reach", .description = "One row per model, best first."};
  plot.value = {.label = "mean", .percent = true};
  plot.series = {"stated confidence", "calibrated confidence", "share right"};
  std::vector<Level> best_first = found.models;
  std::stable_sort(best_first.begin(), best_first.end(),
                   [](const Level& a, const Level& b) { return a.stated.accuracy > b.stated.accuracy; });
  for (const Level& level : best_first) {
    if (level.stated.rows == 0) continue;
    plot.groups.push_back({.name = level.name,
                           .values = {report::Estimate{level.stated.confidence, {}}, report::Estimate{level.calibrated.confidence, {}},
                                      report::Estimate{level.stated.accuracy, {}}}});
  }
  return report::figure(plot, "Stated confidence to the right of the share right is overconfidence; calibrated confidence should meet it.");
}

report::Figure settling_picture(const Settling& found) {
  report::LineChart chart{.words = {.title = "How soon calibration works",
                                    .description = "Calibration error of responses by how many outcomes of their model were known."},
                          .x = {.label = "outcomes learned, per model", .logarithmic = true},
                          .y = {.label = "ECE", .percent = true, .low = 0.0}};
  report::Curve curve{.name = "calibrated", .points = {}};
  for (const Settling::Stage& stage : found.stages) curve.points.push_back({static_cast<double>(stage.outcomes), {stage.ece, {}}});
  chart.curves.push_back(std::move(curve));
  if (found.settled_at) chart.marks.push_back({static_cast<double>(*found.settled_at), "settled"});
  return report::figure(chart, "Each point: responses whose model had at least so many known outcomes, and fewer than the next point has.");
}

}  // namespace

report::Report doctor_report(std::span<const Diagnosis> diagnoses, const PassesSetting& setting) {
  report::Report report{.title = "Would calibration and voting help on this log?"};
  std::string what;
  for (const Diagnosis& found : diagnoses) {
    const bool several = diagnoses.size() > 1;
    const std::string prefix = several ? report::visible(found.facts.channel) + ": " : "";
    report.summary.push_back(report::visible(prefix + verdict(found)));
    what += fmt::format("{}{}{} of {} on {}", what.empty() ? "" : "; ", prefix, counted(found.facts.responses, "usable response"),
                        counted(found.facts.models.size(), "model"), counted(found.facts.tasks, "task"));
    const auto section = [&](const std::string& heading, std::vector<std::string> words,
                             std::vector<report::Table> tables) -> report::Section& {
      for (std::string& paragraph : words) paragraph = report::visible(paragraph);
      report.sections.push_back({.heading = prefix + heading, .paragraphs = std::move(words), .tables = std::move(tables), .figures = {}});
      return report.sections.back();
    };
    auto& usable = section("Is the log usable?", usability_words(found.facts), {answers(found), checks(found.facts)});
    if (found.facts.rows > found.facts.responses) usable.tables.push_back(excluded(found.facts));
    if (!found.headline) continue;
    auto& helps =
        section("Would calibration help?", calibration_words(found), {calibration(found), levels("Every model", "model", found.models)});
    helps.figures = {reliability(found), models(found)};
    auto& votes = section("Would voting help?", voting_words(found), {});
    if (found.voting) votes.tables = {voting(*found.voting)};
    auto& enough = section("How many outcomes are needed to know?", need_words(found), {needs(found)});
    if (!found.settling.stages.empty()) {
      enough.tables.push_back(settling(found.settling));
      enough.figures = {settling_picture(found.settling)};
    }
    auto& change = section("Does it change?", change_words(found), {changes(found)});
    if (!found.phases.empty()) change.tables.push_back(levels("Every phase", "phase", found.phases));
  }
  report.summary.push_back(summary_of(what, setting).front());
  return report;
}

}  // namespace margin::experiment
