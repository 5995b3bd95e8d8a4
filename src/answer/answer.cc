// Canonical forms by kind, and the grouping of one task's answers. docs/voting.md#answers has the grammar and examples.
#include "margin/answer.h"

#include <algorithm>
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
  constexpr std::size_t kFew = 16;           // answers are compared one by one
  std::unordered_map<std::string_view, std::uint32_t> index;
  const auto group_of = [&](const std::string& canonical) {
    if (answers.size() > kFew) return index.try_emplace(canonical, static_cast<std::uint32_t>(index.size())).first->second;
    return static_cast<std::uint32_t>(std::find(groups.canonical.begin(), groups.canonical.end(), canonical) - groups.canonical.begin());
  };
  for (const auto& answer : answers) {
    if (!answer) {
      groups.group.push_back(kNoAnswer);
      continue;
    }
    groups.canonical.push_back(canonical_answer(kind, *answer));
    groups.group.push_back(group_of(groups.canonical.back()));
    if (groups.group.back() + std::size_t{1} < groups.canonical.size()) groups.canonical.pop_back();
  }
  return groups;
}

}  // namespace margin
