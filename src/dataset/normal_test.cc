#include "dataset/normal.h"

#include <gtest/gtest.h>

#include <cmath>

namespace margin::dataset {
namespace {

TEST(Normal, CdfEqualsTheComplementaryErrorFunction) {
  for (double x = -9.0; x <= 9.0; x += 0.01) EXPECT_NEAR(normal_cdf(x), 0.5 * std::erfc(-x / std::sqrt(2.0)), 1e-15) << x;
}

TEST(Normal, QuantileInvertsTheCdf) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(0.5), 0.0, 1e-12);
  for (double x = -5.0; x <= 5.0; x += 0.1) EXPECT_NEAR(normal_quantile(0.5 * std::erfc(-x / std::sqrt(2.0))), x, 1e-8) << x;
}

TEST(Normal, QuantileIsFiniteAtTheEnds) {
  EXPECT_LT(normal_quantile(0.0), -8.0);
  EXPECT_GT(normal_quantile(1.0), 8.0);
  EXPECT_NEAR(normal_cdf(normal_quantile(1.0)), 1.0, 1e-15);
}

}  // namespace
}  // namespace margin::dataset
