#include "metric/product.h"

#include <gtest/gtest.h>

#include <string>

#include "margin/random.h"

namespace margin::internal {
namespace {

constexpr std::size_t kTasks = 53;

// One sum at a time, as the definition reads.
std::vector<double> one_by_one(const std::vector<double>& counts, const std::vector<double>& values) {
  std::vector<double> sums(kBlockResamples * kTileColumns);
  for (std::size_t r = 0; r < kBlockResamples; ++r) {
    for (std::size_t c = 0; c < kTileColumns; ++c) {
      double& sum = sums[c * kBlockResamples + r];
      for (std::size_t t = 0; t < kTasks; ++t) sum += counts[t * kBlockResamples + r] * values[t * kTileColumns + c];
    }
  }
  return sums;
}

TEST(TileProduct, EveryInstructionSetGivesTheSameBits) {
  Random random(17);
  std::vector<double> counts(kTasks * kBlockResamples);
  std::vector<double> values(kTasks * kTileColumns);
  for (double& count : counts) count = static_cast<double>(random.below(5));
  for (double& value : values) value = (random.uniform() - 0.5) * (random.chance(0.1) ? 1e6 : 1.0);  // so that roundings show
  const std::vector<double> expected = one_by_one(counts, values);
  for (const TileProductInfo& product : tile_products()) {
    SCOPED_TRACE(std::string(product.instructions));
    std::vector<double> sums(expected.size(), -1.0);
    product.multiply(counts.data(), values.data(), kTasks, sums.data());
    EXPECT_EQ(sums, expected);
  }
  EXPECT_EQ(tile_products().back().instructions, "any");
}

}  // namespace
}  // namespace margin::internal
