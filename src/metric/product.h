// The inner loop of the bootstrap: a block of resamples times a tile of columns, once per instruction set. Every sum is one chain over
// the tasks in order, multiplied and added with two roundings, so all of them give the same bits.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "margin/bootstrap.h"

namespace margin::internal {

inline constexpr std::size_t kBlockResamples = 24;
inline constexpr std::size_t kTileColumns = TaskColumns::kTileColumns;

// sums[c * kBlockResamples + r] = sum over t of counts[t * kBlockResamples + r] * values[t * kTileColumns + c].
using TileProduct = void (*)(const double* counts, const double* values, std::size_t tasks, double* sums);

struct TileProductInfo {
  std::string_view instructions;
  TileProduct multiply;
};
// Those that this machine can run, the fastest first; never empty.
[[nodiscard]] const std::vector<TileProductInfo>& tile_products();

}  // namespace margin::internal
