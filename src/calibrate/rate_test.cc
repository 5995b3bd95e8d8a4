#include "calibrate/rate.h"

#include <gtest/gtest.h>

namespace margin::internal {
namespace {

TEST(WeightedRate, FullWeightIsTheRateItself) {
  for (const double alpha : {1e-9, 0.04, 0.3, 1.0}) EXPECT_EQ(weighted_rate(alpha, 1.0), alpha);
}

TEST(WeightedRate, TwoHalvesForgetAsMuchAsOneWhole) {
  for (const double alpha : {1e-9, 0.04, 0.3, 0.999}) {
    const double half = weighted_rate(alpha, 0.5);
    EXPECT_NEAR((1.0 - half) * (1.0 - half), 1.0 - alpha, 1e-15);
  }
}

TEST(WeightedRate, RateOneForgetsEverythingAtAnyWeight) {
  for (const double weight : {1.0, 0.5, 1e-300}) EXPECT_EQ(weighted_rate(1.0, weight), 1.0);
}

}  // namespace
}  // namespace margin::internal
