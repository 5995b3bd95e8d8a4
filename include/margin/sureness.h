// Sureness: what is known of a decision before its outcome, as plain values. margin/decision.h computes it, a pool's decisions carry it.
#pragma once

#include <cstdint>
#include <string_view>

namespace margin {

enum class TrustStatus : std::uint8_t {
  kCold,        // too few outcomes to tell
  kDrifting,    // what was promised lately and what came differ by more than chance allows
  kStale,       // no outcome for long
  kCalibrated,  // none of these
};
// "cold", "drifting", "stale", "calibrated".
[[nodiscard]] std::string_view name_of(TrustStatus status);

struct Sureness {
  double p_correct = 0.0;
  double low = 0.0;  // 90% interval of the chance that decisions like this one are right
  double high = 1.0;
  double effective_n = 0.0;  // decisions like this one that the estimate rests on
  TrustStatus status = TrustStatus::kCold;

  bool operator==(const Sureness&) const = default;

  // Answer only if the promise holds: 1 - p_correct <= max_error. What is not answered is a typed abstention.
  [[nodiscard]] bool promises(double max_error) const { return 1.0 - p_correct <= max_error; }
};

}  // namespace margin
