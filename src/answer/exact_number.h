// Exact numbers of any length, for comparing mathematical answers: one text per value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace margin::internal {

// (-1)^negative * digits * 10^exponent. `digits` has neither leading nor trailing zeros and is empty for zero, which is not negative:
// equal numbers have equal members. |exponent| < 2^62.
struct Decimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  void normalise();
  [[nodiscard]] bool operator==(const Decimal&) const = default;
};

// "1200", "-0.5", or "5*10^300" where zeros would make it long.
[[nodiscard]] std::string to_text(const Decimal& value);

// The value of numerator / denominator: as a decimal where it is one ("0.5"), else as a reduced fraction ("-1/3"). Above 38 digits a
// fraction is not reduced, so one value may have several texts, but never two values one. None when the denominator is zero.
[[nodiscard]] std::optional<std::string> quotient_text(Decimal numerator, const Decimal& denominator);

// The numerator of whole + numerator / denominator over the same denominator, for non-negative integers of at most 18 digits and a
// proper fraction; none for others.
[[nodiscard]] std::optional<Decimal> mixed_numerator(const Decimal& whole, const Decimal& numerator, const Decimal& denominator);

}  // namespace margin::internal
