// NearSum: an ExactSum for very many numbers of ordinary size, such as probabilities. The same sum to the last bit, several times faster.
// Used by the metrics.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "margin/exact_sum.h"

namespace margin::internal {

class NearSum {
 public:
  // As ExactSum::add.
  void add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t shift = (bits >> kMantissaBits) - kLeastExponent;  // a negative number has a huge one
    if (shift >= 64) {
      if (x != 0.0) far_.add(x);
      return;
    }
    const std::uint64_t mantissa = (bits & ((std::uint64_t{1} << kMantissaBits) - 1)) | std::uint64_t{1} << kMantissaBits;
    const std::uint64_t low = mantissa << shift;
    low_ += low;
    high_ += (mantissa >> 1 >> (63 - shift)) + static_cast<std::uint64_t>(low_ < low);
    if (++pending_ == kPendingMax) empty();
  }

  [[nodiscard]] double value() const {
    NearSum all = *this;
    all.empty();
    return all.far_.value();
  }

 private:
  static constexpr int kMantissaBits = 52;
  // Numbers in [2^-60, 16) are near: bit 0 of low_ weighs 2^-112, and the largest fills 116 of 128 bits.
  static constexpr std::uint64_t kLeastExponent = 1023 - 60;
  static constexpr std::uint32_t kPendingMax = 1U << 12;

  void empty() {
    for (const auto& [word, weight] : {std::pair(low_, 0x1p-112), std::pair(high_, 0x1p-48)}) {
      // In halves, which doubles hold exactly.
      far_.add(static_cast<double>(word & 0xffffffff) * weight);
      far_.add(static_cast<double>(word >> 32) * 0x1p32 * weight);
    }
    low_ = high_ = 0;
    pending_ = 0;
  }

  ExactSum far_;
  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
  std::uint32_t pending_ = 0;
};

}  // namespace margin::internal
