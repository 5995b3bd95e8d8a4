#include "experiment/regime.h"

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

std::vector<Regime> feedback_regimes(std::span<const std::size_t> lags, bool selected, Boundary boundary) {
  std::vector<Regime> regimes;
  for (const std::size_t lag : lags) regimes.push_back({"lag " + std::to_string(lag), boundary, {.lag = lag}});
  if (selected) regimes.push_back({"selected only", boundary, {.feedback = Feedback::kSelected}});
  return regimes;
}

std::vector<Regime> transfer_regimes() {
  return {{"transferred", Boundary::kCarry, {.feedback = Feedback::kNone}}, {"from scratch", Boundary::kReset, {}}};
}

}  // namespace margin::experiment
