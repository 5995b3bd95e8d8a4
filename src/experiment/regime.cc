#include "experiment/regime.h"

#include <fmt/format.h>

namespace margin::experiment {

std::optional<RegimeResults> run_regimes(const Condition& condition, std::span<const Entrant> entrants, const Vote& vote,
                                         std::span<const Regime> regimes, const ShiftOptions& options, Progress* progress) {
  RegimeResults all{.condition = condition.name};
  for (const Regime& regime : regimes) {
    ShiftOptions one = options;
    one.boundary = regime.boundary;
    one.pass = regime.pass;
    std::optional<ConditionResult> result = run_shift(condition, entrants, vote, one, progress);
    if (!result) return std::nullopt;
    all.labels.push_back(regime.label);
    all.results.push_back(std::move(*result));
  }
  return all;
}

std::vector<Regime> feedback_regimes(const FeedbackGrid& grid, Boundary boundary) {
  std::vector<Regime> regimes;
  for (const std::size_t lag : grid.lags) regimes.push_back({"lag " + std::to_string(lag), boundary, {.lag = lag}});
  if (grid.selected) regimes.push_back({"selected only", boundary, {.feedback = Feedback::kSelected}});
  for (const RemedyKind remedy : grid.remedies) {
    for (const double rate : grid.audits) {
      if (remedy == RemedyKind::kWeighted && rate == 0.0) continue;  // nothing to weight: it would be `none`
      const std::string_view name = kRemedyNames[static_cast<std::size_t>(remedy)];
      regimes.push_back({rate == 0.0 ? std::string(name) : fmt::format("{}, {}% audited", name, 100.0 * rate),
                         boundary,
                         {.feedback = Feedback::kSelected, .remedy = remedy, .audits = {.rate = rate}}});
    }
  }
  return regimes;
}

std::vector<Regime> transfer_regimes() {
  return {{"transferred", Boundary::kCarry, {.feedback = Feedback::kNone}}, {"from scratch", Boundary::kReset, {}}};
}

}  // namespace margin::experiment
