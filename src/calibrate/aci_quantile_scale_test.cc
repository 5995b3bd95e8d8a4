#include <gtest/gtest.h>

#include "margin/calibrator.h"
#include "margin/random.h"

namespace margin {
namespace {

// In the order of explain(): overconfidence taken off, level of its quantile, coverage so far.
double term(const Calibrator& calibrator, std::size_t index) { return calibrator.explain(0, 0.5).terms.at(index).value; }

TEST(AciQuantileScale, FollowsTheWorkedExample) {
  auto calibrator = std::move(make_calibrator("aci_quantile_scale", {{"window", 3.0}})).value();
  calibrator->join(0);
  EXPECT_EQ(term(*calibrator, 0), 0.0);
  const auto learn = [&](double confidence, double outcome) {
    ASSERT_TRUE(calibrator->observe({.confidence = confidence, .outcome = outcome}).ok());
  };
  learn(0.5, 0.0);  // scores: 0.5; the level does not move while the window was empty
  EXPECT_EQ(term(*calibrator, 1), 0.5);
  EXPECT_EQ(term(*calibrator, 0), 0.5);
  learn(0.75, 0.0);  // 0.75 > 0.5 was not covered: level 0.525; the 2nd of {0.5, 0.75}
  EXPECT_EQ(term(*calibrator, 1), 0.525);
  EXPECT_EQ(term(*calibrator, 0), 0.75);
  learn(0.25, 1.0);  // -0.75 was covered: level 0.5; the 2nd of {-0.75, 0.5, 0.75}
  EXPECT_DOUBLE_EQ(term(*calibrator, 1), 0.5);
  EXPECT_EQ(term(*calibrator, 0), 0.5);
  learn(0.0, 1.0);  // -1 was covered: level 0.475; 0.5 leaves; the 2nd of {-1, -0.75, 0.75}
  EXPECT_EQ(term(*calibrator, 0), -0.75);
  EXPECT_EQ(calibrator->calibrate(0, 0.125), 0.875);
  EXPECT_DOUBLE_EQ(term(*calibrator, 2), 2.0 / 3.0);
}

// The level moves by step * (target - covered), so its sum over n steps is level_n - level_0, at most 1, unless it is clipped.
TEST(AciQuantileScale, LongRunCoverageReachesTheTarget) {
  for (const double target : {0.3, 0.5, 0.8}) {
    auto calibrator = std::move(make_calibrator("aci_quantile_scale", {{"target", target}, {"step", 0.005}})).value();
    calibrator->join(0);
    Random random(5);
    for (int i = 0; i < 20'000; ++i) {
      const double confidence = 0.3 + 0.6 * random.uniform();
      ASSERT_TRUE(calibrator->observe({.confidence = confidence, .outcome = random.uniform()}).ok());
    }
    EXPECT_NEAR(term(*calibrator, 2), target, 1.0 / (0.005 * 20'000)) << target;
  }
}

}  // namespace
}  // namespace margin
