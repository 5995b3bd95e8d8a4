#include "base/near_sum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "margin/random.h"

namespace margin::internal {
namespace {

TEST(NearSum, IsTheExactSumToTheLastBit) {
  Random random(5);
  for (const int smallest_exponent : {0, -8, -70, -1100}) {
    NearSum near;
    ExactSum exact;
    for (int i = 0; i < 20'000; ++i) {
      const double x = std::ldexp(random.uniform(),
                                  static_cast<int>(random.below(static_cast<std::uint64_t>(5 - smallest_exponent))) + smallest_exponent);
      near.add(x);
      exact.add(x);
      if (i % 997 == 0) {
        ASSERT_EQ(near.value(), exact.value()) << i;
      }
    }
    EXPECT_EQ(near.value(), exact.value());
  }
}

TEST(NearSum, EdgesOfWhatIsNear) {
  for (const double x : {0.0, 1.0, -1.0, 15.999999999999998, 16.0, 1e18, 0x1p-60, std::nextafter(0x1p-60, 0.0), 4.9e-324, -0x1p-60}) {
    NearSum sum;
    sum.add(x);
    EXPECT_EQ(sum.value(), x);
    sum.add(0.5);
    sum.add(-0.5);
    EXPECT_EQ(sum.value(), x);
  }
}

TEST(NearSum, TheLargestNearNumbersDoNotOverflow) {
  NearSum near;
  const double largest = std::nextafter(16.0, 0.0);
  for (int i = 0; i < 10'000; ++i) near.add(largest);
  ExactSum exact;
  for (int i = 0; i < 10'000; ++i) exact.add(largest);
  EXPECT_EQ(near.value(), exact.value());
}

}  // namespace
}  // namespace margin::internal
