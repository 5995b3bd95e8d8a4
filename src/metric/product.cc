#include "metric/product.h"

namespace margin::internal {
namespace {

// `lanes` doubles are one register. A step multiplies three registers of resamples by `columns` columns, so that the sums stay in
// registers and a value serves three products. A macro, since neither compiler carries a target into an inlined template.
#define MARGIN_TILE_PRODUCT(name, target, lanes, columns)                                                         \
  target void name(const double* counts, const double* values, std::size_t tasks, double* sums) {                 \
    using Register = double __attribute__((vector_size((lanes) * sizeof(double))));                               \
    using InMemory [[gnu::aligned(sizeof(double)), gnu::may_alias]] = Register;                                   \
    for (std::size_t first = 0; first < kBlockResamples; first += std::size_t{3} * (lanes)) {                     \
      for (std::size_t column = 0; column < kTileColumns; column += (columns)) {                                  \
        Register tile[columns][3] = {};                                                                           \
        const double* count = counts + first;                                                                     \
        const double* value = values + column;                                                                    \
        for (std::size_t t = 0; t < tasks; ++t, count += kBlockResamples, value += kTileColumns) {                \
          Register drawn[3];                                                                                      \
          for (std::size_t v = 0; v < 3; ++v) drawn[v] = *reinterpret_cast<const InMemory*>(count + v * (lanes)); \
          for (std::size_t c = 0; c < (columns); ++c) {                                                           \
            for (std::size_t v = 0; v < 3; ++v) tile[c][v] += drawn[v] * value[c];                                \
          }                                                                                                       \
        }                                                                                                         \
        for (std::size_t c = 0; c < (columns); ++c) {                                                             \
          double* sum = sums + (column + c) * kBlockResamples + first;                                            \
          for (std::size_t v = 0; v < 3; ++v) *reinterpret_cast<InMemory*>(sum + v * (lanes)) = tile[c][v];       \
        }                                                                                                         \
      }                                                                                                           \
    }                                                                                                             \
  }

MARGIN_TILE_PRODUCT(multiply_anywhere, , 2, 4)
#if defined(__x86_64__)
MARGIN_TILE_PRODUCT(multiply_avx2, __attribute__((target("avx2"))), 4, 4)
MARGIN_TILE_PRODUCT(multiply_avx512, __attribute__((target("avx512f"))), 8, 8)
#endif

std::vector<TileProductInfo> available() {
  std::vector<TileProductInfo> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) found.push_back({"AVX-512", multiply_avx512});
  if (__builtin_cpu_supports("avx2")) found.push_back({"AVX2", multiply_avx2});
#endif
  found.push_back({"any", multiply_anywhere});
  return found;
}

}  // namespace

const std::vector<TileProductInfo>& tile_products() {
  static const std::vector<TileProductInfo> kProducts = available();
  return kProducts;
}

}  // namespace margin::internal
