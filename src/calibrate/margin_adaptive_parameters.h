// The parameters of margin_adaptive: what they are, and what no range can express about them.
#pragma once

#include <cstddef>

#include "margin/calibrator.h"

namespace margin::internal {

// Bounds of the shape, so that one forecast fits on the stack.
inline constexpr std::size_t kClocksMax = 6;
inline constexpr std::size_t kLinksMax = 6;
inline constexpr std::size_t kBandsMax = 20;

[[nodiscard]] const CalibratorInfo& adaptive_info();    // the newest version
[[nodiscard]] const CalibratorInfo& adaptive_info_2();  // version 2
[[nodiscard]] const CalibratorInfo& adaptive_info_1();  // version 1
// Clocks ascend; links are whole, ascend and begin with 0, whose exposure is the plain count; roots are whole and ascend.
[[nodiscard]] Status check_adaptive(const Parameters& resolved);

}  // namespace margin::internal
