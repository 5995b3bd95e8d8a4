// ExactSum: the exact sum of any number of doubles, rounded once when it is read.
// Used by sliding windows (what leaves the window leaves the sum, bit for bit) and by metrics (the result depends neither on the
// order of the rows nor on how they were split over threads).
#pragma once

#include <array>
#include <cstdint>

namespace margin {

// A fixed-point integer wide enough for every finite double below 2^63 and 2^63 such additions. 152 bytes; no allocation.
// Not thread-safe; sums made by different threads are joined with add(const ExactSum&), exactly.
class ExactSum {
 public:
  // |x| < 2^63 and finite; otherwise the program stops.
  void add(double x) { accumulate(x, false); }
  void subtract(double x) { accumulate(x, true); }
  void add(const ExactSum& other);

  // The exact sum rounded to the nearest double, ties to even. 0 for an empty sum.
  [[nodiscard]] double value() const;

  [[nodiscard]] bool operator==(const ExactSum&) const = default;

  // The raw words, least significant first, two's complement: for snapshots.
  static constexpr int kWords = 19;
  [[nodiscard]] const std::array<std::uint64_t, kWords>& words() const { return words_; }
  void set_words(const std::array<std::uint64_t, kWords>& words) { words_ = words; }

 private:
  void accumulate(double x, bool negate);

  // Bit 0 weighs 2^-1074, so bit 1074 weighs 1 and bit 1137 weighs 2^63; 1216 bits leave 78 for carries and the sign.
  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace margin
