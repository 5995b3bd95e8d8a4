// The decision's own probability along a pass, against starting anew before every task; and its scores against counting by hand.
#include "experiment/decisions.h"

#include <gtest/gtest.h>

#include "dataset/simulate.h"
#include "experiment/graded.h"
#include "experiment/ordering.h"
#include "margin/decision.h"

namespace margin::experiment {
namespace {

using Values = std::vector<std::optional<double>>;

std::vector<double> from_scratch(const Stream& stream, std::span<const std::uint32_t> order, const Pass& pass, const PassOptions& options,
                                 const Values& outcomes) {
  std::vector<double> expected;
  std::size_t first_row = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    DecisionTrust trust = DecisionTrust::make("margin_adaptive").value();
    std::size_t end = 0;
    for (std::size_t before = 0; before < place; ++before) {
      const std::uint32_t task = order[before];
      end += stream.tasks[task].rows;
      if (end + options.lag > first_row || !outcomes[task]) continue;
      if (options.feedback == Feedback::kNone && before >= options.boundary) continue;
      EXPECT_TRUE(trust.observe({.share = pass.selections[task].share, .outcome = *outcomes[task]}).ok());
    }
    expected.push_back(trust.of(pass.selections[order[place]].share).p_correct);
    first_row += stream.tasks[order[place]].rows;
  }
  return expected;
}

TEST(Decisions, KnowWhatHadBeenLearnedByThen) {
  const auto simulation = dataset::simulate("collapse", {.tasks = 150});
  const Stream stream = make_streams(simulation->log)->front();
  const GradedStream graded(stream);
  const std::vector<std::uint32_t> order = shuffled_order(stream, 3, 0);
  const auto method = make_calibrator("margin").value();
  const auto vote = make_vote("stacked").value();
  for (const PassOptions& options :
       {PassOptions{}, PassOptions{.lag = 7}, PassOptions{.lag = 200}, PassOptions{.boundary = 40, .feedback = Feedback::kNone},
        PassOptions{.feedback = Feedback::kSelected}}) {
    const Pass pass = replay(stream, order, *method, *vote, options);
    const Values outcomes = selected_outcomes(graded, pass);
    EXPECT_EQ(decision_probabilities(stream, order, decisions_of(stream, order, pass, options, outcomes), options.lag),
              from_scratch(stream, order, pass, options, outcomes));
  }
}

TEST(Decisions, ErrorsAreThoseOfTheDecisionsAnswered) {
  const Values sure = {0.95, 0.9, 0.8, std::nullopt, 0.99};
  const Values right = {1.0, 0.0, 1.0, 1.0, std::nullopt};
  const DecisionScores scores = score_decisions(sure, right, 0.1000001);
  EXPECT_EQ(scores.decisions, 3.0);
  EXPECT_NEAR(scores.answered, 2.0 / 3.0, 1e-12);
  EXPECT_NEAR(scores.promised, (0.05 + 0.1) / 2.0, 1e-12);
  EXPECT_EQ(scores.realised, 0.5);
  EXPECT_NEAR(scores.ece, (std::abs(0.05 - 0.9) + 0.2) / 3.0, 1e-12);
  EXPECT_EQ(score_decisions({}, {}, 0.1).decisions, 0.0);
}

TEST(Decisions, MeansOfErrorsWeighByWhatWasAnswered) {
  const DecisionScores few{.ece = 0.2, .decisions = 10.0, .answered = 0.1, .promised = 0.1, .realised = 1.0};
  const DecisionScores many{.ece = 0.4, .decisions = 10.0, .answered = 0.9, .promised = 0.2, .realised = 0.0};
  const DecisionScores mean = mean_of(std::vector{few, many});
  EXPECT_NEAR(mean.ece, 0.3, 1e-12);
  EXPECT_NEAR(mean.answered, 0.5, 1e-12);
  EXPECT_NEAR(mean.promised, 0.19, 1e-12);
  EXPECT_NEAR(mean.realised, 0.1, 1e-12);
}

}  // namespace
}  // namespace margin::experiment
