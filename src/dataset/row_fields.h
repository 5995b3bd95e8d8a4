// The fields of a row: names, what is expected of each, and how a bad one is refused. The parsers of JSON and CSV share it; docs/cli.md has
// the schema.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "dataset/observation_log.h"
#include "margin/result.h"

namespace margin::dataset {

enum Field : std::size_t {
  kTask,
  kModel,
  kConfidence,
  kCorrect,
  kAnswer,
  kPhase,
  kChannel,
  kSegment,
  kKind,
  kAbstained,
  kWeight,
  kT,
  kFields
};
inline constexpr std::array<std::string_view, kFields> kFieldNames = {"task",    "model",   "confidence", "correct",   "answer", "phase",
                                                                      "channel", "segment", "kind",       "abstained", "weight", "t"};
inline constexpr std::array<std::string_view, kFields> kExpected = {"a string",
                                                                    "a string",
                                                                    "a number in [0, 1] or null",
                                                                    "a number in [0, 1], true, false or null",
                                                                    "a string or null",
                                                                    "a string",
                                                                    "a string",
                                                                    "a string",
                                                                    "exact, code, choice, math or text",
                                                                    "true or false",
                                                                    "a number in (0, 1]",
                                                                    "seconds since 1970 or a date such as \"2024-05-17T08:30:00Z\""};
// Not to be left out.
inline constexpr std::array kRequired = {kTask, kModel, kConfidence, kCorrect};

[[nodiscard]] inline std::optional<Field> field_of(std::string_view name) {
  for (std::size_t field = 0; field < kFields; ++field) {
    if (kFieldNames[field] == name) return static_cast<Field>(field);
  }
  return std::nullopt;
}

// "FIELD: got VALUE, expected ...".
[[nodiscard]] Error refused(Field field, std::string_view value);
[[nodiscard]] Error refused(Field field, std::string_view value, std::string_view expected);
// "FIELD: missing, expected ...".
[[nodiscard]] Error absent(Field field, std::string_view expected);

}  // namespace margin::dataset
