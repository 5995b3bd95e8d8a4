// Window: the last W entries of one model. What leaves it leaves the sums over it, exactly, so a window has no memory beyond its entries.
// Used by the windowed calibrators.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "margin/calibrator.h"
#include "margin/exact_sum.h"

namespace margin::internal {

[[nodiscard]] ParameterSpec window_parameter();

template <class Entry>
class Window {
 public:
  Window() = default;
  // Takes the memory for `capacity` entries, at least 1.
  explicit Window(std::size_t capacity) : capacity_(capacity) { entries_.reserve(capacity); }

  // Adds an entry and gives back the one that it drives out, if the window was full.
  std::optional<Entry> push(const Entry& entry) {
    if (entries_.size() < capacity_) {
      entries_.push_back(entry);
      return std::nullopt;
    }
    Entry left = std::exchange(entries_[oldest_], entry);
    oldest_ = oldest_ + 1 == capacity_ ? 0 : oldest_ + 1;
    return left;
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  // Entry 0 is the oldest.
  [[nodiscard]] const Entry& operator[](std::size_t i) const {
    const std::size_t rest = entries_.size() - oldest_;
    return entries_[i < rest ? oldest_ + i : i - rest];
  }

 private:
  std::vector<Entry> entries_;
  std::size_t oldest_ = 0;
  std::size_t capacity_ = 0;
};

struct WeightedPair {
  double confidence = 0.0;
  double outcome = 0.0;
  double weight = 1.0;
};

using PairWindow = Window<WeightedPair>;

// The pairs of a window, oldest first: a window and its sums are rebuilt by pushing them again.
void save_pairs(const PairWindow& window, Encoder& out);
// At most `capacity` pairs; fails `in` on more, or on a pair that no observation can have left.
[[nodiscard]] std::vector<WeightedPair> load_pairs(Decoder& in, std::size_t capacity);

// Weighted sums of outcome and confidence over a window: exact, then rounded once.
class WindowSums {
 public:
  WindowSums() = default;
  explicit WindowSums(std::size_t capacity) : window_(capacity) {}

  void push(const WeightedPair& pair);

  [[nodiscard]] bool empty() const { return window_.size() == 0; }
  // Sums of weight, of weight * outcome and of weight * confidence; 0 while empty.
  [[nodiscard]] double weight() const { return weight_; }
  [[nodiscard]] double outcome() const { return outcome_; }
  [[nodiscard]] double confidence() const { return confidence_; }

  void save(Encoder& out) const { save_pairs(window_, out); }
  void load(Decoder& in);

 private:
  PairWindow window_;
  ExactSum exact_weight_;
  ExactSum exact_outcome_;
  ExactSum exact_confidence_;
  double weight_ = 0.0;
  double outcome_ = 0.0;
  double confidence_ = 0.0;
};

}  // namespace margin::internal
