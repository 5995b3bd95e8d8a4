// PairTally: of two models with an outcome each, who is right when they differ, and how often they give the same wrong answer. Over the
// latest outcomes, in two halves: when the newer has seen kHalf feedbacks the older makes room, so the counts cover the latest kHalf to 2 x
// kHalf. Time per feedback in proportion to the pairs it completes, constant memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "margin/pool.h"

namespace margin::service {

struct PairCounts {
  std::uint32_t together = 0;    // both graded in one decision
  std::uint32_t contests = 0;    // with different outcomes
  std::uint32_t stated = 0;      // contests, in halves, where the better outcome stated more; a tie is one half
  std::uint32_t calibrated = 0;  // the same by calibrated confidence
  std::uint32_t both_wrong = 0;
  std::uint32_t same_wrong = 0;  // with the same answer

  void add(const PairCounts& other);
};

class PairTally {
 public:
  static constexpr std::size_t kHalf = 2000;
  static constexpr std::size_t kModelsMax = 64;  // the first so many; pairs grow with the square

  // What `feedback` completed of the decision: pairs of a response that it graded and another that had an outcome by then.
  void add(const DecisionView& decision, Uuid feedback);

  [[nodiscard]] const std::vector<std::string>& models() const { return models_; }
  // Of models()[first] and models()[second], first < second.
  [[nodiscard]] PairCounts counts(std::size_t first, std::size_t second) const;

 private:
  static std::size_t place(std::size_t first, std::size_t second) { return second * (second - 1) / 2 + first; }
  // kModelsMax: one too many.
  std::size_t number_of(const std::string& model);
  void count(const ResponseView& a, const ResponseView& b);

  std::vector<std::string> models_;
  std::unordered_map<std::string, std::size_t> numbers_;
  std::array<std::vector<PairCounts>, 2> halves_;  // the newer first
  std::size_t seen_ = 0;                           // feedbacks in the newer
};

}  // namespace margin::service
