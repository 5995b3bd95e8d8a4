// Canonical forms by kind, and the grouping of one task's answers. docs/voting.md#answers has the grammar and examples.
#include "margin/answer.h"

#include <array>
#include <optional>
#include <unordered_map>

#include "answer/answer_forms.h"
#include "answer/answer_views.h"
#include "base/same_text.h"
#include "base/scratch.h"
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

internal::AnswerViews internal::view_answers(AnswerKind kind, std::span<const std::optional<std::string_view>> answers,
                                             std::pmr::memory_resource* room) {
  constexpr std::size_t kFew = 16;  // answers are compared one by one
  AnswerViews views(room);
  views.group.reserve(answers.size());
  views.canonical.reserve(answers.size());
  std::optional<std::pmr::unordered_map<std::string_view, std::uint32_t>> index;
  if (answers.size() > kFew) index.emplace(room);
  const auto group_of = [&](std::string_view form, std::uint32_t next) {
    if (index) return index->try_emplace(form, next).first->second;
    std::uint32_t group = 0;
    while (group < next && !same_text(views.canonical[group], form)) ++group;
    return group;
  };
  for (const auto& answer : answers) {
    if (!answer) {
      views.group.push_back(kNoAnswer);
      continue;
    }
    const bool own_form = kind == AnswerKind::kExact && answer->size() <= kAnswerBytesMax;
    const std::string_view form = own_form ? *answer : views.forms.emplace_front(canonical_answer(kind, *answer));
    const auto next = static_cast<std::uint32_t>(views.canonical.size());
    const std::uint32_t group = group_of(form, next);
    views.group.push_back(group);
    if (group == next) {
      views.canonical.push_back(form);
    } else if (!own_form) {
      views.forms.pop_front();
    }
  }
  return views;
}

AnswerGroups group_answers(AnswerKind kind, std::span<const std::optional<std::string_view>> answers) {
  internal::Scratch<4096> scratch;
  const internal::AnswerViews views = internal::view_answers(kind, answers, &scratch);
  return {{views.group.begin(), views.group.end()}, {views.canonical.begin(), views.canonical.end()}};
}

}  // namespace margin
