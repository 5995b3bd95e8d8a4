#include "margin/exact_sum.h"

#include <bit>

#include "base/check.h"

namespace margin {
namespace {

constexpr int kMantissaBits = 52;
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << kMantissaBits) - 1;

std::uint64_t add_with_carry(std::uint64_t a, std::uint64_t b, std::uint64_t& carry) {
  const std::uint64_t partial = a + b;
  const std::uint64_t sum = partial + carry;
  carry = static_cast<std::uint64_t>(partial < a) + static_cast<std::uint64_t>(sum < partial);
  return sum;
}

// The number whose words these are, rounded to nearest, ties to even; the words are not negative.
double rounded(const std::array<std::uint64_t, ExactSum::kWords>& words) {
  int top = ExactSum::kWords - 1;
  while (top >= 0 && words[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return 0.0;
  const int highest = top * 64 + 63 - std::countl_zero(words[static_cast<std::size_t>(top)]);
  if (highest <= kMantissaBits) return std::bit_cast<double>(words[0]);  // subnormal or the smallest normal: these are its bits

  const int lowest = highest - kMantissaBits;  // position of the last mantissa bit that is kept
  const auto word = static_cast<std::size_t>(lowest / 64);
  const int offset = lowest % 64;
  std::uint64_t mantissa = words[word] >> offset;
  if (offset != 0 && word + 1 < ExactSum::kWords) mantissa |= words[word + 1] << (64 - offset);
  // Adding to the packed bits lets a carry run into the exponent, as rounding up to a power of two must.
  std::uint64_t bits = (static_cast<std::uint64_t>(lowest + 1) << kMantissaBits) + (mantissa & kMantissaMask);

  const int below = lowest - 1;
  const auto below_word = static_cast<std::size_t>(below / 64);
  const bool half = ((words[below_word] >> (below % 64)) & 1) != 0;
  const auto rest = [&] {
    if ((words[below_word] & ((std::uint64_t{1} << (below % 64)) - 1)) != 0) return true;
    for (std::size_t i = 0; i < below_word; ++i) {
      if (words[i] != 0) return true;
    }
    return false;
  };
  if (half && ((mantissa & 1) != 0 || rest())) ++bits;
  return std::bit_cast<double>(bits);
}

}  // namespace

void ExactSum::accumulate(double x, bool negate) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = static_cast<int>((bits >> kMantissaBits) & 0x7ff);
  MARGIN_CHECK(exponent < 1023 + 63, "an exact sum takes finite numbers below 2^63");
  const std::uint64_t mantissa = (bits & kMantissaMask) | (exponent == 0 ? 0 : std::uint64_t{1} << kMantissaBits);
  if (mantissa == 0) return;
  // A subnormal (exponent 0) has the scale of exponent 1.
  const int shift = exponent == 0 ? 0 : exponent - 1;
  const auto word = static_cast<std::size_t>(shift / 64);
  const int offset = shift % 64;
  const std::uint64_t low = mantissa << offset;
  const std::uint64_t high = offset == 0 ? 0 : mantissa >> (64 - offset);
  const bool negative = ((bits >> 63) != 0) != negate;

  if (!negative) {
    std::uint64_t carry = 0;
    words_[word] = add_with_carry(words_[word], low, carry);
    words_[word + 1] = add_with_carry(words_[word + 1], high, carry);
    for (std::size_t i = word + 2; carry != 0 && i < kWords; ++i) carry = static_cast<std::uint64_t>(++words_[i] == 0);
  } else {
    std::uint64_t borrow = static_cast<std::uint64_t>(words_[word] < low);
    words_[word] -= low;
    const std::uint64_t before = words_[word + 1];
    words_[word + 1] = before - high - borrow;
    borrow = static_cast<std::uint64_t>(before < high || (before == high && borrow != 0));
    for (std::size_t i = word + 2; borrow != 0 && i < kWords; ++i) borrow = static_cast<std::uint64_t>(words_[i]-- == 0);
  }
}

void ExactSum::add(const ExactSum& other) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < kWords; ++i) words_[i] = add_with_carry(words_[i], other.words_[i], carry);
}

double ExactSum::value() const {
  if ((words_.back() >> 63) == 0) return rounded(words_);
  std::array<std::uint64_t, kWords> magnitude = words_;
  std::uint64_t carry = 1;
  for (auto& word : magnitude) word = add_with_carry(~word, 0, carry);
  return -rounded(magnitude);
}

}  // namespace margin
