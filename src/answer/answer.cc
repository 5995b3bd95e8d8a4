// Canonical forms by kind, and the grouping of one task's answers. docs/voting.md#answers has the grammar and examples.
#include "margin/answer.h"

#include <array>
#include <unordered_map>

#include "answer/answer_forms.h"
#include "margin/digest.h"

namespace margin {
namespace {

struct NamedKind {
  AnswerKind kind;
  std::string_view name;
};
constexpr std::array kKinds = {NamedKind{AnswerKind::kExact, "exact"}, NamedKind{AnswerKind::kCode, "code"},
                               NamedKind{AnswerKind::kChoice, "choice"}, NamedKind{AnswerKind::kMath, "math"},
                               NamedKind{AnswerKind::kText, "text"}};

// Longer than kAnswerBytesMax and begun with NUL, as no form of a shorter answer is.
std::string long_form(std::string_view answer) {
  std::string form(1, '\0');
  form.append(answer.substr(0, kAnswerBytesMax));
  return form + ' ' + std::to_string(answer.size()) + ' ' + digest_of(answer).hex();
}

}  // namespace

Result<AnswerKind> parse_answer_kind(std::string_view name) {
  for (const NamedKind& known : kKinds) {
    if (known.name == name) return known.kind;
  }
  return Error{ErrorCode::kInvalidArgument,
               "kind: got " + std::string(name.substr(0, 64)) + ", expected one of exact, code, choice, math, text"};
}

std::string_view name_of(AnswerKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }

std::string canonical_answer(AnswerKind kind, std::string_view answer) {
  if (answer.size() > kAnswerBytesMax) return long_form(answer);
  switch (kind) {
    case AnswerKind::kExact: break;
    case AnswerKind::kCode: return internal::code_form(answer);
    case AnswerKind::kChoice: return internal::choice_form(answer);
    case AnswerKind::kMath: return internal::math_form(answer);
    case AnswerKind::kText: return internal::text_form(answer);
  }
  return std::string(answer);
}

AnswerGroups group_answers(AnswerKind kind, std::span<const std::optional<std::string_view>> answers) {
  AnswerGroups groups;
  groups.group.reserve(answers.size());
  groups.canonical.reserve(answers.size());  // never reallocated, so the keys below stay valid
  std::unordered_map<std::string_view, std::uint32_t> index;
  for (const auto& answer : answers) {
    if (!answer) {
      groups.group.push_back(kNoAnswer);
      continue;
    }
    groups.canonical.push_back(canonical_answer(kind, *answer));
    const auto next = static_cast<std::uint32_t>(index.size());
    const auto [known, is_new] = index.try_emplace(groups.canonical.back(), next);
    groups.group.push_back(known->second);
    if (!is_new) groups.canonical.pop_back();
  }
  return groups;
}

}  // namespace margin
