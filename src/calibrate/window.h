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

// An exact sum over a window, and its value rounded once.
class WindowSum {
 public:
  void add(double x) {
    exact_.add(x);
    value_ = exact_.value();
  }
  void subtract(double x) {
    exact_.subtract(x);
    value_ = exact_.value();
  }
  // Equal numbers leave an exact sum as it is.
  void replace(double left, double entered) {
    if (left == entered) return;
    exact_.subtract(left);
    add(entered);
  }
  [[nodiscard]] double value() const { return value_; }

 private:
  ExactSum exact_;
  double value_ = 0.0;
};

// Weighted sums of outcome and confidence over a window.
class WindowSums {
 public:
  WindowSums() = default;
  explicit WindowSums(std::size_t capacity) : window_(capacity) {}

  void push(const WeightedPair& pair);

  [[nodiscard]] bool empty() const { return window_.size() == 0; }
  // Sums of weight, of weight * outcome and of weight * confidence; 0 while empty.
  [[nodiscard]] double weight() const { return weight_.value(); }
  [[nodiscard]] double outcome() const { return outcome_.value(); }
  [[nodiscard]] double confidence() const { return confidence_.value(); }

  void save(Encoder& out) const { save_pairs(window_, out); }
  void load(Decoder& in);

 private:
  PairWindow window_;
  WindowSum weight_;
  WindowSum outcome_;
  WindowSum confidence_;
};

}  // namespace margin::internal
