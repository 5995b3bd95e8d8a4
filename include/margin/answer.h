// Answers: when do two models say the same? Each kind of task has a canonical form; answers are equal when their forms are.
// docs/voting.md#answers has the grammars with examples.
// Answers are hostile text: any length, any bytes (they need not be UTF-8). Work is linear in the length, memory in kAnswerBytesMax at
// most, and nothing recurses.
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
  kCode,    // all whitespace removed (ASCII and Unicode)
  kChoice,  // the letter, "B" from "(b)", "Answer: B" or "B) because ..."; where none is plainly named, as kText
  kMath,    // the exact value of a number: fractions, decimals, LaTeX boxes, thousands separators, percent signs; else
            // the expression without LaTeX's layout
  kText,    // lower case (ASCII), no articles, no punctuation, single spaces; exact if that leaves nothing
};

// "exact", "code", "choice", "math", "text". kInvalidArgument for anything else.
[[nodiscard]] Result<AnswerKind> parse_answer_kind(std::string_view name);
[[nodiscard]] std::string_view name_of(AnswerKind kind);

// A longer answer has, whatever the kind, a form of its own: its first kAnswerBytesMax bytes, its length and its digest. So it equals only
// itself, and never a shorter one.
inline constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;

// The canonical form: not for people, but readable. Deterministic and total; the same on every machine (no locale).
[[nodiscard]] std::string canonical_answer(AnswerKind kind, std::string_view answer);

// A response without an answer does not vote.
inline constexpr std::uint32_t kNoAnswer = 0xffffffff;

struct AnswerGroups {
  std::vector<std::uint32_t> group;    // per response: index into `canonical`, or kNoAnswer
  std::vector<std::string> canonical;  // the distinct answers, in the order of their first response
};

// Numbers the distinct answers of one task, in the order they come. Linear in the bytes of all answers.
[[nodiscard]] AnswerGroups group_answers(AnswerKind kind, std::span<const std::optional<std::string_view>> answers);

}  // namespace margin
