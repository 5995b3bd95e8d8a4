// CategoricalCalibrator against its plain Python twin (make_categorical.py), row by row.
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "margin/categorical.h"

namespace margin {
namespace {

TEST(CategoricalGolden, SaysWhatTheTwinSays) {
  std::ifstream in(MARGIN_GOLDEN_DATA "/categorical.txt");
  auto classes = CategoricalCalibrator::make({.classes = 3, .alpha = 0.08, .bands = 4, .shrinkage = 15.0}).value();
  classes.join(0);
  classes.join(1);
  CategoricalObservation row;
  std::vector<double> expected(3), got(3);
  std::size_t rows = 0;
  while (in >> row.model >> row.confidence >> row.outcome >> row.weight >> expected[0] >> expected[1] >> expected[2]) {
    classes.distribution(row.model, row.confidence, got);
    for (std::size_t j = 0; j < 3; ++j) ASSERT_NEAR(got[j], expected[j], 1e-12) << "row " << rows << ", class " << j;
    ASSERT_TRUE(classes.observe(row).ok());
    ++rows;
  }
  EXPECT_EQ(rows, 600U);
}

}  // namespace
}  // namespace margin
