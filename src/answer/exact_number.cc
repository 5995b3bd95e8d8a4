#include "answer/exact_number.h"

#include <algorithm>
#include <utility>

namespace margin::internal {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::size_t kWideDigits = 38;       // 10^38 < 2^128
constexpr std::int64_t kZerosMax = 20;        // more of them are written as an exponent
constexpr std::int64_t kMixedDigitsMax = 18;  // so that whole * denominator + numerator fits

Wide to_wide(const std::string& digits) {
  Wide value = 0;
  for (const char digit : digits) value = value * 10 + static_cast<unsigned>(digit - '0');
  return value;
}

std::string to_digits(Wide value) {
  std::string digits;
  for (; value != 0; value /= 10) digits += static_cast<char>('0' + static_cast<int>(value % 10));
  std::reverse(digits.begin(), digits.end());
  return digits;
}

Wide greatest_common_divisor(Wide a, Wide b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

// How often `factor` divides `value`, which loses it.
int take_out(Wide& value, unsigned factor) {
  int times = 0;
  for (; value % factor == 0; ++times) value /= factor;
  return times;
}

void multiply(std::string& digits, unsigned factor) {
  unsigned carry = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    carry += static_cast<unsigned>(digits[i] - '0') * factor;
    digits[i] = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  if (carry != 0) digits.insert(digits.begin(), static_cast<char>('0' + carry));
}

bool is_whole(const Decimal& value) {
  return !value.negative && value.exponent >= 0 && static_cast<std::int64_t>(value.digits.size()) + value.exponent <= kMixedDigitsMax;
}

Wide whole(const Decimal& value) { return to_wide(value.digits + std::string(static_cast<std::size_t>(value.exponent), '0')); }

// value / rest, for a rest that 2 and 5 do not divide and that has no divisor in common with the digits: the pair is unique for the
// quotient. Written as a plain fraction where that fits.
std::string fraction_text(const Decimal& value, Wide rest) {
  Wide denominator = rest;
  std::int64_t exponent = value.exponent;
  while (exponent < 0 && denominator < (Wide{1} << 124)) {
    denominator *= 10;
    ++exponent;
  }
  if (value.exponent >= 0 || exponent < 0 || value.digits.size() > kWideDigits) return to_text(value) + '/' + to_digits(rest);
  const Wide numerator = to_wide(value.digits);
  const Wide common = greatest_common_divisor(numerator, denominator);
  return (value.negative ? "-" : "") + to_digits(numerator / common) + '/' + to_digits(denominator / common);
}

}  // namespace

void Decimal::normalise() {
  const std::size_t last = digits.find_last_not_of('0');
  if (last == std::string::npos) {
    *this = {};
    return;
  }
  exponent += static_cast<std::int64_t>(digits.size() - last - 1);
  digits.resize(last + 1);
  digits.erase(0, digits.find_first_not_of('0'));
}

std::string to_text(const Decimal& value) {
  if (value.digits.empty()) return "0";
  const std::string sign = value.negative ? "-" : "";
  const auto size = static_cast<std::int64_t>(value.digits.size());
  if (value.exponent > kZerosMax || -value.exponent > size + kZerosMax)
    return sign + value.digits + "*10^" + std::to_string(value.exponent);
  if (value.exponent >= 0) return sign + value.digits + std::string(static_cast<std::size_t>(value.exponent), '0');
  const std::int64_t point = size + value.exponent;  // digits before the point; zeros behind it when negative
  if (point <= 0) return sign + "0." + std::string(static_cast<std::size_t>(-point), '0') + value.digits;
  return sign + value.digits.substr(0, static_cast<std::size_t>(point)) + '.' + value.digits.substr(static_cast<std::size_t>(point));
}

std::optional<std::string> quotient_text(Decimal numerator, const Decimal& denominator) {
  if (denominator.digits.empty()) return std::nullopt;
  if (numerator.digits.empty()) return "0";
  numerator.negative = numerator.negative != denominator.negative;
  numerator.exponent -= denominator.exponent;
  if (denominator.digits == "1") return to_text(numerator);
  if (numerator.digits.size() > kWideDigits || denominator.digits.size() > kWideDigits) {
    return to_text(numerator) + '/' + denominator.digits;
  }
  // p/q reduced, then q = 2^twos * 5^fives * rest, and 1/(2^twos * 5^fives) is a decimal.
  const Wide p = to_wide(numerator.digits);
  Wide rest = to_wide(denominator.digits);
  const Wide common = greatest_common_divisor(p, rest);
  rest /= common;
  const int twos = take_out(rest, 2);
  const int fives = take_out(rest, 5);
  numerator.digits = to_digits(p / common);
  for (int i = twos; i < fives; ++i) multiply(numerator.digits, 2);
  for (int i = fives; i < twos; ++i) multiply(numerator.digits, 5);
  numerator.exponent -= std::max(twos, fives);
  numerator.normalise();
  return rest == 1 ? to_text(numerator) : fraction_text(numerator, rest);
}

std::optional<Decimal> mixed_numerator(const Decimal& whole_part, const Decimal& numerator, const Decimal& denominator) {
  if (!is_whole(whole_part) || !is_whole(numerator) || !is_whole(denominator)) return std::nullopt;
  if (whole(numerator) >= whole(denominator)) return std::nullopt;
  Decimal sum{.digits = to_digits(whole(whole_part) * whole(denominator) + whole(numerator))};
  sum.normalise();
  return sum;
}

}  // namespace margin::internal
