// What a decision's record leaves out since format 2, because the rest of it tells: most of it is the same for all responses, or follows.
// Each is left out of all responses or of none, so that one look tells; what is left out is what is put back, to the bit.
#pragma once

#include <cstdint>
#include <vector>

#include "margin/event.h"

namespace margin::internal {

class LeftOut {
 public:
  // What the record of this decision need not hold.
  static LeftOut of(const DecisionMade& decision);
  // As the record of this decision says it; false: it says something else, or more would be put back than a record may hold.
  [[nodiscard]] bool read(std::uint64_t bits, std::vector<std::uint32_t> confidences, const DecisionMade& decision);
  // Fills in what a record did not hold.
  void put_back(DecisionMade& decision) const;

  // Nothing is: the record is one of format 1.
  [[nodiscard]] bool nothing() const { return bits_ == 0 && confidences_.empty(); }
  // Every channel but that of the first response, which they share.
  [[nodiscard]] bool channels() const { return (bits_ & kChannels) != 0; }
  // Every factor: calibrated / confidence, and 1 where none or 0 is stated.
  [[nodiscard]] bool factors() const { return (bits_ & kFactors) != 0; }
  // Every weight: it is the calibrated probability.
  [[nodiscard]] bool weights() const { return (bits_ & kWeights) != 0; }
  [[nodiscard]] std::uint32_t bits() const { return bits_; }
  // In ten thousandths, and one more; 0: none is stated. Empty: they stand with the responses.
  [[nodiscard]] const std::vector<std::uint32_t>& confidences() const { return confidences_; }

 private:
  static constexpr std::uint32_t kChannels = 1;
  static constexpr std::uint32_t kFactors = 2;
  static constexpr std::uint32_t kWeights = 4;

  std::uint32_t bits_ = 0;
  std::vector<std::uint32_t> confidences_;
};

}  // namespace margin::internal
