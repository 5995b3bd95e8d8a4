#include "experiment/evaluation_pictures.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "experiment/graded.h"
#include "margin/metric.h"
#include "report/heat_map.h"
#include "report/reliability_diagram.h"
#include "report/risk_coverage.h"

namespace margin::experiment {
namespace {

// The curve is drawn at this many coverages, evenly spaced.
constexpr std::size_t kCoverages = 100;

report::ReliabilityPanel panel_of(std::string name, const Stream& stream, const std::vector<double>& confidence) {
  std::vector<double> probabilities, outcomes;
  for (std::size_t row = 0; row < stream.rows(); ++row) {
    if (std::isnan(stream.outcome[row])) continue;
    probabilities.push_back(confidence[row]);
    outcomes.push_back(stream.outcome[row]);
  }
  const Predictions rows{probabilities, outcomes};
  report::ReliabilityPanel panel{.name = std::move(name), .ece = ece(rows), .bins = {}};
  for (const ReliabilityBin& bin : reliability_table(rows)) {
    panel.bins.push_back({.range = {bin.low, bin.high},
                          .confidence = bin.mean_probability,
                          .accuracy = {bin.mean_outcome, report::Interval{bin.outcome_low, bin.outcome_high}},
                          .count = bin.count});
  }
  return panel;
}

report::ReliabilityDiagram reliability(const Evaluation& evaluation) {
  report::ReliabilityDiagram diagram{
      .words = {.title = "Reliability before and after",
                .description = "The share of right answers against confidence, as stated and as calibrated by each method."},
      .panels = {panel_of("as stated", evaluation.stream, evaluation.stream.confidence)}};
  for (const MethodEvaluation& method : evaluation.methods) {
    if (method.first->calibrated != evaluation.stream.confidence) {
      diagram.panels.push_back(panel_of(method.label, evaluation.stream, method.first->calibrated));
    }
  }
  return diagram;
}

// By model and band, what the method at the end makes of the confidence that the model states there on average.
report::HeatMap factors(const Stream& stream, const MethodEvaluation& method) {
  const Calibrator& end = *method.first->end;
  const int bands = end.bands();
  report::HeatMap map{.words = {.title = "Factors of " + method.label + " at the end",
                                .description = "Calibrated over stated confidence, by model and band of stated confidence."},
                      .row_label = "model",
                      .column_label = "stated confidence",
                      .columns = {},
                      .rows = {}};
  for (int band = 0; band < bands; ++band) {
    map.columns.push_back(fmt::format("{:.0f} to {:.0f}%", 100.0 * band / bands, 100.0 * (band + 1) / bands));
  }
  struct Stated {
    double sum = 0.0;
    std::size_t count = 0;
  };
  std::vector<Stated> stated(stream.models.size() * static_cast<std::size_t>(bands));
  const auto cell = [&](ModelId model, int band) -> Stated& {
    return stated[std::size_t{model} * static_cast<std::size_t>(bands) + static_cast<std::size_t>(band)];
  };
  for (std::size_t row = 0; row < stream.rows(); ++row) {
    Stated& one = cell(stream.model[row], band_of(stream.confidence[row], bands));
    one.sum += stream.confidence[row];
    ++one.count;
  }
  for (ModelId model = 0; model < stream.models.size(); ++model) {
    report::HeatMap::Row row{.name = stream.models[model], .cells = {}};
    for (int band = 0; band < bands; ++band) {
      const Stated& one = cell(model, band);
      row.cells.emplace_back();
      if (one.count == 0 || !end.known(model)) continue;
      row.cells.back() = {end.explain(model, one.sum / static_cast<double>(one.count)).factor, one.count};
    }
    map.rows.push_back(std::move(row));
  }
  return map;
}

std::optional<report::RiskCurve> risk_curve(const GradedStream& graded, const MethodEvaluation& method) {
  const std::vector<std::optional<double>> outcomes = selected_outcomes(graded, *method.first);
  std::vector<double> sure, right;
  for (std::size_t task = 0; task < outcomes.size(); ++task) {
    if (!outcomes[task]) continue;
    sure.push_back(*method.first_sure[task]);
    right.push_back(*outcomes[task]);
  }
  const std::optional<RiskCoverage> risk = risk_coverage({sure, right});
  if (!risk) return std::nullopt;
  report::RiskCurve curve{.name = method.label, .points = {}};
  std::size_t next = 1;
  for (const RiskPoint& point : risk->curve) {
    if (point.coverage * kCoverages < static_cast<double>(next)) continue;
    curve.points.push_back({point.coverage, {point.risk, std::nullopt}});
    next = static_cast<std::size_t>(point.coverage * kCoverages) + 1;
  }
  return curve;
}

}  // namespace

std::vector<report::Figure> pictures_of(const Evaluation& evaluation, const PassesSetting& setting) {
  const std::string pass = setting.options.orderings == 0 ? "in file order" : "of the first ordering";
  std::vector<report::Figure> figures;
  if (evaluation.stream.rows() > evaluation.stream.ungraded) {
    figures.push_back(
        report::figure(reliability(evaluation),
                       fmt::format("Dots: share right per bin of confidence, with 95% intervals; on the line is calibrated. Bars: "
                                   "how many. The pass {}.",
                                   pass)));
  }
  for (const MethodEvaluation& method : evaluation.methods) {
    if (method.first->end->bands() < 2) continue;
    figures.push_back(report::figure(
        factors(evaluation.stream, method),
        fmt::format(
            "What {} makes of each model's stated confidence at the end of the pass {}: below 1 it says more than it keeps. Below the "
            "factor: how many responses. A band in which a model states nothing is empty.",
            method.label, pass)));
  }
  const GradedStream graded(evaluation.stream);
  report::RiskCoverage risk{
      .words = {.title = "Risk and coverage of the decisions", .description = "The share of wrong decisions among the surest, by method."}};
  for (const MethodEvaluation& method : evaluation.methods) {
    if (std::optional<report::RiskCurve> curve = risk_curve(graded, method)) risk.curves.push_back(std::move(*curve));
  }
  if (!risk.curves.empty()) {
    figures.push_back(report::figure(
        risk,
        fmt::format("Deciding only the tasks whose selected answer is most likely right, by the decision's own probability (vote {}): how "
                    "many, and how many of those wrong. The pass {}.",
                    setting.vote, pass)));
  }
  return figures;
}

}  // namespace margin::experiment
