#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "margin/metric.h"
#include "metric/test_rows.h"

namespace margin {
namespace {

using test::Rows;

// The definition, row by row and image by image: the reflected kernel is the sum over the images of t under reflection at 0 and 1.
double brute_force(const Rows& rows, double bandwidth, int points) {
  double integral = 0.0;
  for (int i = 0; i <= points; ++i) {
    const double t = static_cast<double>(i) / points;
    double value = 0.0;
    for (std::size_t r = 0; r < rows.p.size(); ++r) {
      for (int k = -6; k <= 6; ++k) {
        for (const double image : {2.0 * k + t, 2.0 * k - t}) {
          const double z = (image - rows.p[r]) / bandwidth;
          value += (rows.p[r] - rows.o[r]) * std::exp(-0.5 * z * z);
        }
      }
    }
    integral += (i == 0 || i == points ? 0.5 : 1.0) * std::fabs(value) / points;
  }
  return integral / (bandwidth * std::sqrt(2.0 * std::numbers::pi) * static_cast<double>(rows.p.size()));
}

TEST(SmoothEce, EqualsTheDefinitionRowByRow) {
  const Rows rows = test::sample_rows(31, 15);
  for (const double bandwidth : {0.011, 0.05, 0.3, 1.0}) {
    EXPECT_NEAR(*smooth_ece_at(rows.view(), bandwidth), brute_force(rows, bandwidth, 20'000), 1e-6) << bandwidth;
  }
}

TEST(SmoothEce, MassAtTheEndsIsReflected) {
  Rows rows;
  rows.add(0.0, 0.25);
  rows.add(1.0, 0.0);
  rows.add(1.0, 1.0);
  EXPECT_NEAR(*smooth_ece_at(rows.view(), 0.02), 1.25 / 3.0, 1e-7);  // far apart: nothing cancels
  EXPECT_NEAR(*smooth_ece_at(rows.view(), 0.4), brute_force(rows, 0.4, 20'000), 1e-6);
}

TEST(SmoothEce, OneProbabilityGivesItsOwnErrorAtAnyBandwidth) {
  Rows rows;
  for (int i = 0; i < 8; ++i) rows.add(0.37, i < 5 ? 1.0 : 0.0);
  const double error = 5.0 / 8.0 - 0.37;
  EXPECT_NEAR(*smooth_ece_at(rows.view(), 0.003), error, 1e-9);
  EXPECT_NEAR(*smooth_ece_at(rows.view(), 0.7), error, 1e-9);
  EXPECT_NEAR(*smooth_ece(rows.view()), error, 1e-8);
}

TEST(SmoothEce, BandwidthEqualsTheErrorItFinds) {
  for (const std::uint64_t seed : {41U, 42U, 43U}) {
    const Rows rows = test::sample_rows(seed, 100);
    const double error = *smooth_ece(rows.view());
    EXPECT_GT(error, kSmoothBandwidthMin);
    EXPECT_NEAR(*smooth_ece_at(rows.view(), error), error, 1e-6);
  }
}

TEST(SmoothEce, AWiderKernelFindsNoMore) {
  const Rows rows = test::sample_rows(44, 100);
  double narrower = *smooth_ece_at(rows.view(), kSmoothBandwidthMin);
  for (double bandwidth = 0.002; bandwidth <= 1.0; bandwidth *= 1.7) {
    const double error = *smooth_ece_at(rows.view(), bandwidth);
    EXPECT_LE(error, narrower + 1e-6);
    narrower = error;
  }
}

TEST(SmoothEce, CertainAndRightIsZero) {
  Rows rows;
  rows.add(0.0, 0.0);
  rows.add(1.0, 1.0);
  EXPECT_EQ(*smooth_ece(rows.view()), 0.0);
}

TEST(SmoothEce, NoRowsNoValue) {
  EXPECT_FALSE(smooth_ece({}).has_value());
  EXPECT_FALSE(smooth_ece_at({}, 0.1).has_value());
}

}  // namespace
}  // namespace margin
