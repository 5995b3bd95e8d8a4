#include "experiment/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "margin/decision.h"
#include "margin/metric.h"

namespace margin::experiment {

std::vector<double> decision_probabilities(const Stream& stream, std::span<const std::uint32_t> order, std::span<const Decision> decisions,
                                           std::size_t lag) {
  const auto rows_at = [&](std::size_t place) -> std::size_t { return stream.tasks[order[place]].rows; };
  DecisionTrust trust = DecisionTrust::make(kTrustMethod).value();
  std::vector<double> probabilities;
  std::size_t learned = 0, learned_rows = 0, rows = 0;  // rows before the place
  for (std::size_t place = 0; place < order.size(); rows += rows_at(place++)) {
    for (; learned < place && learned_rows + rows_at(learned) + lag <= rows; ++learned) {
      learned_rows += rows_at(learned);
      const Decision& decision = decisions[learned];
      if (!decision.outcome || !decision.arrives) continue;
      const Status status = trust.observe({.share = decision.share, .outcome = *decision.outcome, .weight = decision.weight});
      MARGIN_CHECK(status.ok(), "shares, outcomes and weights of a stream are in range");
    }
    probabilities.push_back(trust.p_correct(decisions[place].share));
  }
  return probabilities;
}

std::vector<Decision> decisions_of(const Stream& stream, std::span<const std::uint32_t> order, const Pass& pass, const PassOptions& options,
                                   std::span<const std::optional<double>> outcomes) {
  std::vector<Decision> decisions;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const Pass::Selection& selection = pass.selections[order[place]];
    decisions.push_back({.outcome = outcomes[order[place]],
                         .share = selection.share,
                         .weight = stream.weight[selection.row],
                         .arrives = options.feedback != Feedback::kNone || place < options.boundary});
  }
  return decisions;
}

double DecisionScores::debiased() const { return std::sqrt(std::max(0.0, squared)); }

DecisionScores score_decisions(std::span<const std::optional<double>> probabilities, std::span<const std::optional<double>> outcomes,
                               double max_error) {
  DecisionScores scores;
  std::vector<double> p, right;
  double answered = 0.0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (!probabilities[i] || !outcomes[i]) continue;
    p.push_back(*probabilities[i]);
    right.push_back(*outcomes[i]);
    if (!Sureness{.p_correct = p.back()}.promises(max_error)) continue;
    answered += 1.0;
    scores.promised += 1.0 - p.back();
    scores.realised += 1.0 - right.back();
  }
  if (p.empty()) return scores;
  const Predictions rows{p, right};
  scores.ece = ece(rows).value_or(0.0);
  if (const auto debiased = debiased_ece(rows)) scores.squared = debiased->squared;
  if (const auto band = ece_band(p)) scores.in_band = scores.ece <= band->high ? 1.0 : 0.0;
  scores.decisions = static_cast<double>(p.size());
  scores.answered = answered / scores.decisions;
  scores.promised /= std::max(1.0, answered);
  scores.realised /= std::max(1.0, answered);
  return scores;
}

DecisionScores mean_of(std::span<const DecisionScores> scores) {
  DecisionScores mean;
  double answered = 0.0;
  for (const DecisionScores& one : scores) {
    for (double DecisionScores::*field : {&DecisionScores::ece, &DecisionScores::squared, &DecisionScores::in_band,
                                          &DecisionScores::decisions, &DecisionScores::answered}) {
      mean.*field += one.*field / static_cast<double>(scores.size());
    }
    const double count = one.answered * one.decisions;
    mean.promised += count * one.promised;
    mean.realised += count * one.realised;
    answered += count;
  }
  mean.promised /= std::max(answered, 1e-9);
  mean.realised /= std::max(answered, 1e-9);
  return mean;
}

report::Table decision_table(std::string title, std::string subject, double max_error) {
  const auto percent = [](std::string name) { return report::Column{.name = std::move(name), .kind = report::Kind::kPercent}; };
  report::Table table{.title = std::move(title),
                      .columns = {{.name = std::move(subject)},
                                  percent("ECE"),
                                  percent("debiased ECE"),
                                  percent("inside the band"),
                                  percent(fmt::format("answered at {:g}%", 100.0 * max_error)),
                                  percent("promised error"),
                                  percent("realised error")}};
  table.notes.emplace_back(
      "Inside the band: the ECE is one that a perfect forecaster with the same probabilities shows in 97.5% of draws. Errors are of the "
      "decisions answered.");
  return table;
}

}  // namespace margin::experiment
