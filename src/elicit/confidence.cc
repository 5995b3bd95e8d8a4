// What is written is what is read: no value is clamped, rescaled by likelihood, or picked out of a sentence.
#include "elicit/confidence.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "elicit/label.h"
#include "elicit/lines.h"

namespace margin::elicit {
namespace {

// A longer line is a sentence.
constexpr std::size_t kLineBytesMax = 160;

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Markdown's and LaTeX's marks gone: "**Confidence:** `85`" becomes "Confidence: 85". Marks inside a word or number stay: "8**5" is not 85.
// The spaces that typography sets before colons and percent signs become plain ones.
std::string without_marks(std::string_view line) {
  static constexpr std::string_view kMarks = "*_`$";
  static constexpr std::array<std::string_view, 3> kWideSpaces = {"\xc2\xa0", "\xe2\x80\xaf", "\xe3\x80\x80"};
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t end = std::min(line.find_first_not_of(kMarks, i), line.size());
    const bool inside = i > 0 && end < line.size() && is_alphanumeric(line[i - 1]) && is_alphanumeric(line[end]);
    if (inside) out += line.substr(i, end - i);
    i = end;
    const auto wide = std::find_if(kWideSpaces.begin(), kWideSpaces.end(), [&](auto space) { return line.substr(i).starts_with(space); });
    if (wide != kWideSpaces.end()) {
      out += ' ';
      i += wide->size();
    } else if (i < line.size()) {
      out += line[i++];
    }
  }
  return out;
}

Stated in_range(double value) {
  const bool legal = value >= 0.0 && value <= 1.0;
  return {.kind = legal ? Stated::Kind::kValue : Stated::Kind::kOutOfRange, .value = value};
}

struct Brackets {
  std::string_view open;
  std::string_view close;
};

enum class Scale { kAsWritten, kHundred, kOne };

Stated read_value(std::string_view text, Scale scale) {
  // A comma is a decimal mark only where it cannot separate thousands.
  static const RE2 kValue(R"((-?(?:\d{1,9}(?:\.\d{1,9}|,\d{1,2})?|\.\d{1,9}))\s*(\\?%|％|/\s*100|percent)?)");
  std::string number;
  std::string of_hundred;
  if (!RE2::FullMatch(piece(text), kValue, &number, &of_hundred)) return {};
  std::replace(number.begin(), number.end(), ',', '.');
  double value = 0.0;
  std::from_chars(number.data(), number.data() + number.size(), value);
  const bool decimal = number.find('.') != std::string::npos;
  if (!of_hundred.empty()) {
    if (scale == Scale::kOne) return {};
    return in_range(value / 100.0);
  }
  if (scale == Scale::kOne || (scale == Scale::kAsWritten && decimal && value <= 1.0)) return in_range(value);
  return in_range(value / 100.0);
}

}  // namespace

Stated read_confidence_value(std::string_view text) { return read_value(trimmed(text), Scale::kAsWritten); }

std::optional<Stated> read_confidence_line(std::string_view line) {
  // English as the templates ask for it, and what models make of it that translate.
  static const RE2 kLabel(
      "(?i)(?:[-+•] +|#{1,6} +)?(?:(?:my|overall|final|stated|estimated) +)*"
      "(?:confidence|konfidenz|konfidenzniveau|zuversicht|(?:niveau de |degré de )?confiance|(?:nivel de |grado de )?confianza|"
      "(?:nível de |grau de )?confiança|(?:livello di )?(?:confidenza|fiducia)|zekerheid|vertrouwen|pewność|konfidens|güven|уверенность|"
      "(?:степень|уровень) уверенности|впевненість|置信度|信心度|信心|把握|确信度|確信度|信頼度|自信度|확신도|신뢰도|자신감|الثقة|مستوى "
      "الثقة|विश्वास)"
      "(?: +(?:level|score|rating|estimate))?");
  static const RE2 kOfOne(R"((?i)0 *(?:-|–|to) *1(?:\.0)?)");
  static const RE2 kOfHundred(R"((?i)0 *(?:-|–|to) *100 *%?|%|in %|percent)");
  static const RE2 kObject(R"re(\{\s*"confidence"\s*:\s*"?([^"{}]*)"?\s*\})re");
  line = trimmed(line);
  if (line.size() > kLineBytesMax) return std::nullopt;
  if (line.starts_with('{')) {
    std::string value;
    if (!RE2::FullMatch(piece(line), kObject, &value)) return std::nullopt;
    return read_confidence_value(value);
  }
  if (!split_label(line)) return std::nullopt;

  const std::string plain = without_marks(line);
  const std::optional<Labelled> parts = split_label(trimmed(plain));
  if (!parts) return std::nullopt;
  std::string_view label = trimmed(parts->label);
  std::string_view value = trimmed(parts->value);
  for (const std::string_view stop : {".", "。"}) {
    if (value.ends_with(stop)) value = trimmed(value.substr(0, value.size() - stop.size()));
  }
  Scale scale = Scale::kAsWritten;
  for (const Brackets& brackets : {Brackets{"(", ")"}, Brackets{"（", "）"}}) {
    const std::size_t open = label.find(brackets.open);
    if (open == std::string_view::npos || !label.ends_with(brackets.close)) continue;
    const std::size_t from = open + brackets.open.size();
    const std::string_view named = label.substr(from, label.size() - brackets.close.size() - from);
    if (!RE2::FullMatch(piece(named), kOfOne) && !RE2::FullMatch(piece(named), kOfHundred)) return std::nullopt;
    scale = RE2::FullMatch(piece(named), kOfOne) ? Scale::kOne : Scale::kHundred;
    label = trimmed(label.substr(0, open));
  }
  if (!RE2::FullMatch(piece(label), kLabel)) return std::nullopt;
  return read_value(value, scale);
}

}  // namespace margin::elicit
