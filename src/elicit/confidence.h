// A stated confidence, as read from one line or one JSON value. docs/elicitation.md#confidence has the grammar with examples.
#pragma once

#include <optional>
#include <string_view>

namespace margin::elicit {

// What a line or value says.
struct Stated {
  enum class Kind { kValue, kOutOfRange, kMalformed };
  Kind kind = Kind::kMalformed;
  double value = 0.0;  // 0 to 1 for kValue; as written, in parts of one, for kOutOfRange

  [[nodiscard]] bool is_number() const { return kind != Kind::kMalformed; }
};

// "85", "85%", "85/100", "0.85", ".85", "0,85": nothing else around it but spaces.
[[nodiscard]] Stated read_confidence_value(std::string_view text);

// A line that states a confidence and nothing else: "**Confidence:** 85%". Nothing: the line does not begin as such lines do.
[[nodiscard]] std::optional<Stated> read_confidence_line(std::string_view line);

}  // namespace margin::elicit
