#include "margin/parameter.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/check.h"
#include "base/suggest.h"

namespace margin {
namespace {

std::string format_number(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

std::string expectation(const ParameterSpec& spec) {
  std::string range = (spec.open_low ? "(" : "[") + format_number(spec.low) + ", " + format_number(spec.high) + "]";
  switch (spec.kind) {
    case ParameterSpec::Kind::kNumber: return "a number in " + range;
    case ParameterSpec::Kind::kInteger: return "a whole number in " + range;
    case ParameterSpec::Kind::kList: return "1 to " + std::to_string(spec.length_max) + " numbers in " + range;
    case ParameterSpec::Kind::kChoice: break;
  }
  std::string words = "one of ";
  for (std::size_t i = 0; i < spec.choices.size(); ++i) words += (i == 0 ? "" : ", ") + spec.choices[i];
  return words;
}

Error refusal(std::string_view owner, const ParameterSpec& spec, std::string_view value) {
  return {ErrorCode::kInvalidArgument,
          std::string(owner) + "." + spec.name + ": got " + std::string(value) + ", expected " + expectation(spec)};
}

bool in_range(const ParameterSpec& spec, double value) {
  return (spec.open_low ? value > spec.low : value >= spec.low) && value <= spec.high;
}

bool acceptable(const ParameterSpec& spec, const ParameterValue& value) {
  switch (spec.kind) {
    case ParameterSpec::Kind::kNumber: {
      const double* number = std::get_if<double>(&value);
      return number != nullptr && in_range(spec, *number);
    }
    case ParameterSpec::Kind::kInteger: {
      const double* number = std::get_if<double>(&value);
      return number != nullptr && in_range(spec, *number) && *number == std::floor(*number);
    }
    case ParameterSpec::Kind::kChoice: {
      const std::string* word = std::get_if<std::string>(&value);
      return word != nullptr && std::find(spec.choices.begin(), spec.choices.end(), *word) != spec.choices.end();
    }
    case ParameterSpec::Kind::kList: {
      const auto* numbers = std::get_if<std::vector<double>>(&value);
      return numbers != nullptr && !numbers->empty() && numbers->size() <= spec.length_max &&
             std::all_of(numbers->begin(), numbers->end(), [&](double x) { return in_range(spec, x); });
    }
  }
  return false;
}

bool parse_number(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

template <class T>
const T& get(const Parameters& parameters, std::string_view name) {
  const auto found = parameters.find(std::string(name));
  MARGIN_CHECK(found != parameters.end(), "a resolved parameter has a value");
  const T* value = std::get_if<T>(&found->second);
  MARGIN_CHECK(value != nullptr, "a resolved parameter is of its kind");
  return *value;
}

}  // namespace

ParameterSpec number_parameter(std::string name, double fallback, double low, double high, std::string meaning) {
  return {.name = std::move(name),
          .kind = ParameterSpec::Kind::kNumber,
          .fallback = fallback,
          .low = low,
          .high = high,
          .meaning = std::move(meaning)};
}

ParameterSpec integer_parameter(std::string name, int fallback, int low, int high, std::string meaning) {
  return {.name = std::move(name),
          .kind = ParameterSpec::Kind::kInteger,
          .fallback = static_cast<double>(fallback),
          .low = static_cast<double>(low),
          .high = static_cast<double>(high),
          .meaning = std::move(meaning)};
}

ParameterSpec choice_parameter(std::string name, std::vector<std::string> choices, std::string meaning) {
  ParameterValue fallback = choices.front();
  return {.name = std::move(name),
          .kind = ParameterSpec::Kind::kChoice,
          .fallback = std::move(fallback),
          .choices = std::move(choices),
          .meaning = std::move(meaning)};
}

Result<Parameters> resolve_parameters(std::string_view owner, std::span<const ParameterSpec> specs, const Parameters& given) {
  Parameters resolved;
  for (const ParameterSpec& spec : specs) resolved.emplace(spec.name, spec.fallback);
  for (const auto& [name, value] : given) {
    const auto spec = std::find_if(specs.begin(), specs.end(), [&name = name](const ParameterSpec& s) { return s.name == name; });
    if (spec == specs.end()) {
      std::vector<std::string> names;
      for (const ParameterSpec& s : specs) names.push_back(s.name);
      return Error{ErrorCode::kInvalidArgument, std::string(owner) + ": no parameter named " + name + internal::suggestion(name, names)};
    }
    if (!acceptable(*spec, value)) return refusal(owner, *spec, to_text(value));
    resolved[name] = value;
  }
  return resolved;
}

Result<ParameterValue> parse_parameter(std::string_view owner, const ParameterSpec& spec, std::string_view text) {
  ParameterValue value;
  if (spec.kind == ParameterSpec::Kind::kChoice) {
    value = std::string(text);
  } else if (spec.kind == ParameterSpec::Kind::kList) {
    std::vector<double> numbers;
    for (std::string_view rest = text;;) {
      const std::size_t comma = rest.find(',');
      double number = 0.0;
      if (!parse_number(rest.substr(0, comma), number)) return refusal(owner, spec, text);
      numbers.push_back(number);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    value = std::move(numbers);
  } else {
    double number = 0.0;
    if (!parse_number(text, number)) return refusal(owner, spec, text);
    value = number;
  }
  if (!acceptable(spec, value)) return refusal(owner, spec, text);
  return value;
}

double number(const Parameters& parameters, std::string_view name) { return get<double>(parameters, name); }
int integer(const Parameters& parameters, std::string_view name) { return static_cast<int>(get<double>(parameters, name)); }
const std::string& choice(const Parameters& parameters, std::string_view name) { return get<std::string>(parameters, name); }
const std::vector<double>& list(const Parameters& parameters, std::string_view name) { return get<std::vector<double>>(parameters, name); }

std::string to_text(const ParameterValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return format_number(*number);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  std::string text;
  for (const double x : std::get<std::vector<double>>(value)) text += (text.empty() ? "" : ",") + format_number(x);
  return text;
}

}  // namespace margin
