// VoteTally: who took part in decisions, whose answer won, and how confident each model says it is. Over the latest decisions, in two
// halves: when the newer has kHalf decisions the older makes room. Constant memory per model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "margin/event.h"

namespace margin::service {

struct VoteCounts {
  static constexpr int kBins = 20;
  using Histogram = std::array<std::uint32_t, kBins>;

  std::uint32_t responses = 0;
  std::uint32_t won = 0;       // its answer was selected
  std::uint32_t led = 0;       // and it was the one that the decision names
  std::uint32_t decisive = 0;  // without it another answer would have won
  Histogram stated{};
  Histogram calibrated{};

  void add(const VoteCounts& other);
};

class VoteTally {
 public:
  static constexpr std::size_t kHalf = 2000;

  VoteTally() = default;
  VoteTally(const VoteTally&) = delete;  // a copy's places would be the original's
  VoteTally& operator=(const VoteTally&) = delete;

  // `same_models`: as in the decision before, in the same places.
  void add(const DecisionMade& decision, bool same_models);

  [[nodiscard]] std::size_t decisions() const { return seen_[0] + seen_[1]; }
  // By model; those of the older half included.
  [[nodiscard]] std::map<std::string, VoteCounts, std::less<>> counts() const;

 private:
  using Half = std::map<std::string, VoteCounts, std::less<>>;
  void find_models(const DecisionMade& decision);

  std::array<Half, 2> halves_;  // the newer first
  std::array<std::size_t, 2> seen_{};
  std::vector<Half::iterator> latest_;  // of the latest decision, by place among its responses
};

}  // namespace margin::service
