// AnswerViews: the distinct answers of one task, as group_answers() tells them, without a copy of those that are their own form.
#pragma once

#include <cstdint>
#include <forward_list>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/answer.h"

namespace margin::internal {

struct AnswerViews {
  explicit AnswerViews(std::pmr::memory_resource* room) : group(room), canonical(room), forms(room) {}

  std::pmr::vector<std::uint32_t> group;         // per response: index into `canonical`, or kNoAnswer
  std::pmr::vector<std::string_view> canonical;  // of the answers themselves, or of `forms`
  std::pmr::forward_list<std::string> forms;
};

// The result points into the answers.
[[nodiscard]] AnswerViews view_answers(AnswerKind kind, std::span<const std::optional<std::string_view>> answers,
                                       std::pmr::memory_resource* room);

}  // namespace margin::internal
