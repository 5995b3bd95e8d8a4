#include "calibrate/window.h"

#include <gtest/gtest.h>

#include <deque>

namespace margin::internal {
namespace {

TEST(Window, HoldsTheLastEntriesOldestFirst) {
  for (const std::size_t capacity : {1U, 2U, 5U}) {
    Window<int> window(capacity);
    std::deque<int> expected;
    for (int entry = 0; entry < 17; ++entry) {
      const auto left = window.push(entry);
      expected.push_back(entry);
      ASSERT_EQ(left.has_value(), expected.size() > capacity);
      if (left) {
        EXPECT_EQ(*left, expected.front());
        expected.pop_front();
      }
      ASSERT_EQ(window.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(window[i], expected[i]);
    }
  }
}

TEST(WindowSums, NothingRemainsOfWhatHasLeft) {
  // Terms of very different size: a running double would keep the rounding errors of the large ones.
  WindowSums sums(2);
  sums.push({.confidence = 1.0, .outcome = 1.0, .weight = 1.0});
  sums.push({.confidence = 1e-300, .outcome = 1e-20, .weight = 0.5});
  sums.push({.confidence = 1.0 / 3.0, .outcome = 1.0, .weight = 1.0});
  sums.push({.confidence = 1e-17, .outcome = 0.0, .weight = 1.0});
  sums.push({.confidence = 1e-17, .outcome = 1e-20, .weight = 0.5});
  EXPECT_EQ(sums.weight(), 1.5);
  EXPECT_EQ(sums.outcome(), 0.5e-20);
  EXPECT_EQ(sums.confidence(), 1.5e-17);
}

TEST(WindowSums, LoadRefusesMorePairsThanTheWindowHolds) {
  PairWindow wide(3);
  for (int i = 0; i < 3; ++i) wide.push({.confidence = 0.5, .outcome = 1.0, .weight = 1.0});
  Encoder out;
  save_pairs(wide, out);
  Decoder fits(out.bytes());
  EXPECT_EQ(load_pairs(fits, 3).size(), 3U);
  EXPECT_TRUE(fits.ok());
  Decoder too_many(out.bytes());
  EXPECT_TRUE(load_pairs(too_many, 2).empty());
  EXPECT_FALSE(too_many.ok());
}

TEST(WindowSums, LoadRefusesPairsThatCannotHaveBeenObserved) {
  for (const WeightedPair& bad : {WeightedPair{1.5, 0.0, 1.0}, WeightedPair{0.5, -0.1, 1.0}, WeightedPair{0.5, 1.0, 0.0}}) {
    PairWindow window(1);
    window.push(bad);
    Encoder out;
    save_pairs(window, out);
    Decoder in(out.bytes());
    EXPECT_TRUE(load_pairs(in, 1).empty());
    EXPECT_FALSE(in.ok());
  }
}

}  // namespace
}  // namespace margin::internal
