// Answers: when do two models say the same? Each kind of task has a canonical form; answers are equal when their forms are.
// Answers are hostile text: any length, any bytes. Work and memory are linear in the length, and never more than kAnswerBytesMax is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/result.h"

namespace margin {

enum class AnswerKind : std::uint8_t {
  kExact,   // the bytes themselves
  kCode,    // all whitespace removed
  kChoice,  // the letter
  kMath,    // the normalised value: fractions, decimals, LaTeX boxes, thousands separators, percent signs
  kText,    // lower case, no articles, no punctuation, single spaces; exact if that leaves nothing
};

// "exact", "code", "choice", "math", "text". kInvalidArgument for anything else.
[[nodiscard]] Result<AnswerKind> parse_answer_kind(std::string_view name);
[[nodiscard]] std::string_view name_of(AnswerKind kind);

// Longer answers are compared by length, digest and first kAnswerBytesMax bytes instead of by canonical form.
inline constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;

// The canonical form. Deterministic and total; the same on every machine (no locale).
[[nodiscard]] std::string canonical_answer(AnswerKind kind, std::string_view answer);

// A response without an answer does not vote.
inline constexpr std::uint32_t kNoAnswer = 0xffffffff;

struct AnswerGroups {
  std::vector<std::uint32_t> group;    // per response: index into `canonical`, or kNoAnswer
  std::vector<std::string> canonical;  // the distinct answers, in the order of their first response
};

// Numbers the distinct answers of one task, in the order they come.
[[nodiscard]] AnswerGroups group_answers(AnswerKind kind, std::span<const std::optional<std::string_view>> answers);

}  // namespace margin
