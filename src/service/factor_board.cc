#include "service/factor_board.h"

#include <algorithm>

namespace margin::service {
namespace {

constexpr std::chrono::seconds kPause{1};
constexpr int kShare = 50;

}  // namespace

const std::vector<FactorRow>& FactorBoard::rows(const Pool& pool, std::uint64_t offset, std::chrono::steady_clock::time_point now) {
  if (made_ && (offset == offset_ || now < not_before_)) return rows_;
  const auto began = std::chrono::steady_clock::now();
  rows_ = pool.factors();
  offset_ = offset;
  made_ = true;
  const auto took = std::chrono::steady_clock::now() - began;
  not_before_ = now + std::max<std::chrono::steady_clock::duration>(kPause, kShare * took);
  return rows_;
}

}  // namespace margin::service
