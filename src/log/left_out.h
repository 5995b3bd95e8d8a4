// What a decision's record leaves out since format 2, because the rest of it tells: most of it is the same for all responses, or follows.
// Each is left out of all responses or of none, so that one look tells; what is left out is what is put back, to the bit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "margin/event.h"

namespace margin::internal {

class LeftOut {
 public:
  // What the record of this decision need not hold.
  static LeftOut of(const DecisionMade& decision);
  // Fills in what a record did not hold, as it says: `bits`, and what stands in the list of confidences. False: it says
  // something else, or more would be put back than a record may hold.
  [[nodiscard]] static bool put_back(std::uint64_t bits, std::span<const std::uint32_t> confidences, DecisionMade& decision);

  // Nothing is: the record is one of format 1.
  [[nodiscard]] bool nothing() const { return bits_ == 0 && !confidences_; }
  // Every channel but that of the first response, which they share.
  [[nodiscard]] bool channels() const { return (bits_ & kChannels) != 0; }
  // Every factor: calibrated / confidence, and 1 where none or 0 is stated.
  [[nodiscard]] bool factors() const { return (bits_ & kFactors) != 0; }
  // Every weight: it is the calibrated probability.
  [[nodiscard]] bool weights() const { return (bits_ & kWeights) != 0; }
  [[nodiscard]] std::uint32_t bits() const { return bits_; }
  // Every confidence: they stand in a list of their own.
  [[nodiscard]] bool confidences() const { return confidences_; }
  // One as it stands there: in ten thousandths, and one more; 0: none is stated. What stands there may mean another one, if they are not
  // left out.
  static constexpr double kTenThousand = 10'000.0;
  [[nodiscard]] static std::uint32_t listed(const std::optional<double>& confidence) {
    return confidence ? (static_cast<std::uint32_t>(*confidence * (2.0 * kTenThousand)) + 1) / 2 + 1 : 0;
  }

 private:
  static constexpr std::uint32_t kChannels = 1;
  static constexpr std::uint32_t kFactors = 2;
  static constexpr std::uint32_t kWeights = 4;

  std::uint32_t bits_ = 0;
  bool confidences_ = false;
};

}  // namespace margin::internal
