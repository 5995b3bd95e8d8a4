// Parameters of calibrators and votes: values by name, and the specification each value must meet.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "margin/result.h"

namespace margin {

// A number, a word (one of the choices), or a list of numbers.
using ParameterValue = std::variant<double, std::string, std::vector<double>>;
using Parameters = std::map<std::string, ParameterValue>;

// What a parameter may be. Every knob states range, default and meaning; `margin methods` and the docs print this.
struct ParameterSpec {
  enum class Kind { kNumber, kInteger, kChoice, kList };

  std::string name;
  Kind kind = Kind::kNumber;
  ParameterValue fallback;  // the default
  double low = 0.0;         // inclusive unless open_low
  double high = 0.0;        // inclusive; for a list, each element's range
  bool open_low = false;
  std::vector<std::string> choices;  // kChoice only
  std::size_t length_max = 0;        // kList only; at least one element
  std::string meaning;
};

[[nodiscard]] ParameterSpec number_parameter(std::string name, double fallback, double low, double high, std::string meaning);
[[nodiscard]] ParameterSpec integer_parameter(std::string name, int fallback, int low, int high, std::string meaning);
[[nodiscard]] ParameterSpec choice_parameter(std::string name, std::vector<std::string> choices,
                                             std::string meaning);  // the first is the default

// `given` completed by the defaults of `specs`. kInvalidArgument names `owner`, the parameter, the value and what was expected;
// an unknown name is refused with the nearest known one.
[[nodiscard]] Result<Parameters> resolve_parameters(std::string_view owner, std::span<const ParameterSpec> specs, const Parameters& given);

// Text as typed by a person ("0.04", "pool_band", "8,48,288") to a value of the kind that `spec` wants. kInvalidArgument as above.
[[nodiscard]] Result<ParameterValue> parse_parameter(std::string_view owner, const ParameterSpec& spec, std::string_view text);

// The value of a resolved parameter; the program stops when the name or the kind is wrong, since specs and code must agree.
[[nodiscard]] double number(const Parameters& parameters, std::string_view name);
[[nodiscard]] int integer(const Parameters& parameters, std::string_view name);
[[nodiscard]] const std::string& choice(const Parameters& parameters, std::string_view name);
[[nodiscard]] const std::vector<double>& list(const Parameters& parameters, std::string_view name);

// "0.04", "pool_band" or "8,48,288": what parse_parameter reads back to the same bits.
[[nodiscard]] std::string to_text(const ParameterValue& value);

}  // namespace margin
