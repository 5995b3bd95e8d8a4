#include "margin/categorical.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "margin/random.h"

namespace margin {
namespace {

CategoricalCalibrator joined(const CategoricalOptions& options) {
  auto classes = CategoricalCalibrator::make(options).value();
  classes.join(0);
  return classes;
}

std::vector<double> distribution(const CategoricalCalibrator& classes, double confidence) {
  std::vector<double> p(classes.options().classes);
  classes.distribution(0, confidence, p);
  return p;
}

TEST(Categorical, PassesStatedConfidenceThroughBeforeAnyData) {
  const auto classes = joined({.classes = 3, .bands = 10});
  EXPECT_NEAR(distribution(classes, 0.93)[0], 0.95, 1e-15);
  EXPECT_NEAR(distribution(classes, 0.93)[2], 0.025, 1e-15);
}

TEST(Categorical, ProbabilitiesSumToOneWhateverIsLearned) {
  auto classes = joined({.classes = 5});
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const double c = random.uniform();
    const std::vector<double> p = distribution(classes, c);
    ASSERT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1.0, 1e-12);
    for (const double one : p) ASSERT_GE(one, 0.0);
    ASSERT_TRUE(classes.observe({.confidence = c, .outcome = random.below(5), .weight = 1.0 - random.uniform()}).ok());
  }
}

TEST(Categorical, LearnsHowOftenEachClassComes) {
  auto classes = joined({.classes = 3, .alpha = 0.005});
  Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    const double u = random.uniform();
    ASSERT_TRUE(classes.observe({.confidence = 0.9, .outcome = u < 0.6 ? 0U : u < 0.9 ? 1U : 2U}).ok());
  }
  const std::vector<double> p = distribution(classes, 0.95);
  EXPECT_NEAR(p[0], 0.6, 0.06);
  EXPECT_NEAR(p[1], 0.3, 0.06);
  EXPECT_NEAR(p[2], 0.1, 0.04);
}

// Two classes with bands alone are an exponential average of right and wrong.
TEST(Categorical, TwoClassesAreADecayedHistogram) {
  auto classes = joined({.classes = 2, .bands = 10, .shrinkage = 0.0});
  auto histogram = std::move(make_calibrator("decayed_histogram")).value();
  histogram->join(0);
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const double c = random.uniform();
    const bool right = random.chance(0.7 * c);
    ASSERT_TRUE(classes.observe({.confidence = c, .outcome = right ? 0U : 1U}).ok());
    ASSERT_TRUE(histogram->observe({.model = 0, .confidence = c, .outcome = right ? 1.0 : 0.0}).ok());
  }
  for (const double c : {0.05, 0.5, 0.99}) EXPECT_NEAR(distribution(classes, c)[0], histogram->calibrate(0, c), 1e-12);
}

TEST(Categorical, RefusesWhatIsOutOfRangeAndStaysAsItWas) {
  EXPECT_FALSE(CategoricalCalibrator::make({.classes = 1}).ok());
  EXPECT_FALSE(CategoricalCalibrator::make({.classes = 101}).ok());
  EXPECT_FALSE(CategoricalCalibrator::make({.alpha = 0.0}).ok());
  EXPECT_FALSE(CategoricalCalibrator::make({.bands = 0}).ok());
  EXPECT_FALSE(CategoricalCalibrator::make({.shrinkage = -1.0}).ok());
  auto classes = joined({.classes = 3});
  const Digest before = classes.digest();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (const CategoricalObservation& bad :
       {CategoricalObservation{.confidence = 0.5, .outcome = 3}, CategoricalObservation{.confidence = kNaN},
        CategoricalObservation{.confidence = 0.5, .weight = 0.0}, CategoricalObservation{.confidence = 1.5}}) {
    EXPECT_EQ(classes.observe(bad).error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(classes.observe({.model = 7}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(classes.digest(), before);
  ASSERT_TRUE(classes.observe({.confidence = 0.5, .outcome = 2}).ok());
  EXPECT_NE(classes.digest(), before);
}

}  // namespace
}  // namespace margin
