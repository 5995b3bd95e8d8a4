// The options of margin against margin as published, on the simulated cohort: the claims of docs/evaluation.md that need no real log, with
// intervals over resampled tasks.
#include <gtest/gtest.h>

#include "dataset/paper_cohort.h"
#include "dataset/simulate.h"
#include "experiment/shift_pools.h"
#include "experiment/stream.h"

namespace margin::experiment {
namespace {

constexpr const char* kOption = "option";

// "option", margin with these parameters, against margin alone.
ShiftGroup play(const Parameters& parameters, const std::vector<std::pair<std::string, std::string>>& shifts) {
  const auto simulation = dataset::simulate("paper", {.seed = 1});
  const auto stream_of = [&](const std::string& phase) { return make_streams(simulation->log, {.phases = {phase}})->front(); };
  std::vector<Entrant> entrants;
  entrants.push_back({"margin", std::move(make_calibrator("margin")).value()});
  entrants.push_back({kOption, std::move(make_calibrator("margin", parameters)).value()});
  const auto vote = std::move(make_vote("sum")).value();
  ShiftGroup group("all models", kOption);
  for (const auto& [source, target] : shifts) {
    const Condition condition = make_condition(source + "->" + target, stream_of(source), stream_of(target));
    const auto result = run_shift(condition, entrants, *vote, {.orderings = 4, .resamples = 300});
    EXPECT_TRUE(group.add(*result));
  }
  return group;
}

std::vector<std::pair<std::string, std::string>> all_shifts() {
  std::vector<std::pair<std::string, std::string>> shifts;
  for (const dataset::PaperCondition& one : dataset::paper_conditions()) shifts.emplace_back(one.source, one.target);
  return shifts;
}

// Bands with a third of the outcomes each need three times as long to notice a collapse.
TEST(OptionFindings, QuantileEdgesCostCalibrationAfterACollapse) {
  const auto contest = play({{"edges", "quantile"}}, {{"HE", "BCB"}, {"MBPP", "BCB"}}).against_best(Compared::kEce);
  EXPECT_GT(contest.interval->low, 0.05) << contest.mean;
}

TEST(OptionFindings, QuantileEdgesGainBrierScoreWhereLittleChanges) {
  const auto contest = play({{"edges", "quantile"}}, {{"TQ1", "TQ2"}, {"HE", "HE+"}}).against_best(Compared::kBrier);
  EXPECT_LT(contest.interval->high, 0.0) << contest.mean;
}

TEST(OptionFindings, EstimatedCredibilityIsWorthNothingOnThreeBands) {
  const ShiftGroup group = play({{"credibility", "estimated"}}, all_shifts());
  const auto ece = group.against_best(Compared::kEce);
  EXPECT_GT(ece.interval->low, -0.001) << ece.mean;
  EXPECT_LT(ece.interval->high, 0.005) << ece.mean;
  const auto brier = group.against_best(Compared::kBrier);
  EXPECT_GT(brier.interval->low, -0.0005) << brier.mean;
  EXPECT_LT(brier.interval->high, 0.0005) << brier.mean;
}

TEST(OptionFindings, AChosenNumberOfBandsIsNoBetterThanThree) {
  const ShiftGroup group = play({{"bands", 0.0}}, all_shifts());
  EXPECT_GT(group.against_best(Compared::kEce).interval->low, 0.0);
  EXPECT_GT(group.against_best(Compared::kBrier).interval->low, -0.0005);
}

}  // namespace
}  // namespace margin::experiment
