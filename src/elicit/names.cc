// Names of tasks, modes and reasons; equivalence and agreement by task.
#include <algorithm>
#include <array>

#include "base/suggest.h"
#include "base/text.h"
#include "elicit/elicit.h"

namespace margin::elicit {
namespace {

constexpr std::array<std::string_view, std::size(kTasks)> kTaskNames = {"code", "competition_code", "choice", "short_answer", "math",
                                                                        "free"};
constexpr std::array<std::string_view, 3> kModeNames = {"off", "line", "schema"};
constexpr std::array<std::string_view, 7> kMissingNames = {"none",        "not_asked", "absent", "out_of_range",
                                                           "conflicting", "malformed", "refused"};

template <class Enum, std::size_t N>
Result<Enum> find(std::string_view what, const std::array<std::string_view, N>& names, std::string_view name) {
  const auto* found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  const std::vector<std::string> known(names.begin(), names.end());
  return Error{ErrorCode::kNotFound, "no " + std::string(what) + " named " + internal::printable(name) + internal::suggestion(name, known)};
}

}  // namespace

std::string_view name_of(Task task) { return kTaskNames[static_cast<std::size_t>(task)]; }
std::string_view name_of(Mode mode) { return kModeNames[static_cast<std::size_t>(mode)]; }
std::string_view name_of(Missing missing) { return kMissingNames[static_cast<std::size_t>(missing)]; }

Result<Task> find_task(std::string_view name) { return find<Task>("task", kTaskNames, name); }
Result<Mode> find_mode(std::string_view name) { return find<Mode>("elicitation mode", kModeNames, name); }

AnswerKind equivalence(Task task) {
  switch (task) {
    case Task::kCode:
    case Task::kCompetitionCode: return AnswerKind::kCode;
    case Task::kChoice: return AnswerKind::kChoice;
    case Task::kMath: return AnswerKind::kMath;
    case Task::kShortAnswer:
    case Task::kFree: break;
  }
  return AnswerKind::kText;
}

std::optional<double> agreement(Task task, std::span<const std::string> answers) {
  if (answers.empty() || answers.front().empty()) return std::nullopt;
  const AnswerKind kind = equivalence(task);
  const std::string first = canonical_answer(kind, answers.front());
  const auto equal =
      std::count_if(answers.begin(), answers.end(), [&](const std::string& a) { return !a.empty() && canonical_answer(kind, a) == first; });
  return static_cast<double>(equal) / static_cast<double>(answers.size());
}

}  // namespace margin::elicit
