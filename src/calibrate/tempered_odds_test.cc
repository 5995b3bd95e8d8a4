#include "calibrate/tempered_odds.h"

#include <gtest/gtest.h>

#include "margin/math.h"
#include "margin/random.h"

namespace margin::internal {
namespace {

TEST(TemperedOdds, ARootOfTheStatedOddsTimesBothScales) {
  TemperedOdds odds({0.0, 2.0}, 0.5);
  odds.make_room(1);
  TemperedOdds::set(odds.pool(), 1, 3.0);
  TemperedOdds::set(odds.model(0), 1, 0.5);
  const auto p = TemperedOdds::probabilities(odds.with_model(odds.with_pool(stated_odds(0.9), 2), 0), 1);
  EXPECT_NEAR(TemperedOdds::get(p, 0), 0.9, 1e-15);
  const double fourth_root = std::pow(9.0, 0.25) * 1.5;
  EXPECT_NEAR(TemperedOdds::get(p, 1), fourth_root / (1.0 + fourth_root), 1e-15);
  // Certainty is read as one in a million.
  EXPECT_NEAR(TemperedOdds::get(TemperedOdds::probabilities(odds.with_pool(stated_odds(1.0), 2), 1), 0), 1.0 - 1e-6, 1e-12);
}

// Stated odds like a token's: extreme, and four times too far from even. Bands see nearly all of it in the topmost one.
struct TokenLike {
  Random random{11};
  double stated = 0.0;
  double truth = 0.0;
  Observation next(ModelId model) {
    const double log_odds = 3.0 + 3.0 * random.normal();
    stated = sigmoid(log_odds);
    truth = sigmoid(0.25 * log_odds - 0.3 * model);
    return {.model = model, .confidence = stated, .outcome = random.chance(truth) ? 1.0 : 0.0};
  }
};

TEST(TemperedOdds, MakeMarginAdaptiveSeeWhatBandsCannot) {
  auto with = std::move(make_calibrator("margin_adaptive")).value();
  auto without = std::move(make_calibrator("margin_adaptive@1")).value();
  TokenLike world;
  double gain = 0.0, squares = 0.0, excess = 0.0;
  constexpr int kTasks = 4000, kWarm = 1000, kModels = 3;
  for (int task = 0; task < kTasks; ++task) {
    for (ModelId model = 0; model < kModels; ++model) {
      const Observation row = world.next(model);
      double loss[2];
      Calibrator* calibrators[] = {with.get(), without.get()};
      for (int i = 0; i < 2; ++i) {
        calibrators[i]->join(model);
        const double p = calibrators[i]->calibrate(model, row.confidence);
        loss[i] = (p - row.outcome) * (p - row.outcome);
        if (i == 0 && task >= kWarm) excess += (p - world.truth) * (p - world.truth);
        calibrators[i]->begin_task();
        ASSERT_TRUE(calibrators[i]->observe(row));
        calibrators[i]->end_task();
      }
      if (task < kWarm) continue;
      gain += loss[1] - loss[0];
      squares += (loss[1] - loss[0]) * (loss[1] - loss[0]);
    }
  }
  const double n = (kTasks - kWarm) * kModels;
  const double mean = gain / n;
  const double error = std::sqrt((squares / n - mean * mean) / n);
  EXPECT_GT(mean, 4.0 * error) << mean << " +- " << error;
  EXPECT_LT(excess / n, 0.006);  // what adapting costs beside knowing the curve
}

TEST(TemperedOdds, ScalesBesideAnotherPoolsDoWhatTheyDid) {
  TemperedOdds odds({1.0}, 0.01);
  odds.pool() = TemperedOdds::all(4.0);
  const TemperedOdds::Values model = odds.rebased(TemperedOdds::all(6.0), TemperedOdds::all(2.0));
  EXPECT_EQ(TemperedOdds::get(model, 0) * 4.0, 6.0 * 2.0);
  EXPECT_NEAR(TemperedOdds::get(TemperedOdds::between(TemperedOdds::all(2.0), TemperedOdds::all(16.0), 1.0 / 3.0), 0), 4.0, 1e-12)
      << "a third of the way in logarithms";
}

// Scales at their bounds, where a model that is always right ends: a state with one beyond them would be refused.
TEST(TemperedOdds, BetweenTwoScalesIsAScale) {
  for (const double bound : {TemperedOdds::kScaleMax, 1.0 / TemperedOdds::kScaleMax}) {
    for (double share = 0.0; share <= 1.0; share += 0.001) {
      const double scale = TemperedOdds::get(TemperedOdds::between(TemperedOdds::all(bound), TemperedOdds::all(bound), share), 0);
      EXPECT_TRUE(scale >= 1.0 / TemperedOdds::kScaleMax && scale <= TemperedOdds::kScaleMax) << share;
      EXPECT_NEAR(scale / bound, 1.0, 1e-12) << share;
    }
  }
}

}  // namespace
}  // namespace margin::internal
