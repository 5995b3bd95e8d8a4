// An outcome beside what has been said of its decision: what it would add, repeat or contradict. For those who decide whether it is to be
// written; nothing here changes the state.
#include <algorithm>
#include <optional>

#include "pool/limits.h"
#include "pool/state.h"

namespace margin {

bool answers_are_kept(std::span<const Digest> answers) {
  for (std::size_t group = 0; group < answers.size(); ++group) {
    if (answers[group] != unkept_answer(group)) return true;
  }
  return answers.empty();
}

namespace internal {
namespace {

void say_once(std::vector<Comparison::Said>& all, Uuid feedback, const std::string& source) {
  const auto known = [&](const Comparison::Said& said) { return said.feedback == feedback; };
  if (std::none_of(all.begin(), all.end(), known)) all.push_back({feedback, source});
}

enum class Beside { kNothing, kSame, kOther };

// Of two grades that may be about the same responses: without a channel one is about all of its model.
Beside beside(const Grade& grade, const Grade& said) {
  if (grade.model != said.model) return Beside::kNothing;
  if (!grade.channel.empty() && !said.channel.empty() && grade.channel != said.channel) return Beside::kNothing;
  return grade.outcome == said.outcome ? Beside::kSame : Beside::kOther;
}

// Gold answers are the same, or others, when they are so for every kind of task; between that only the decision can tell.
Beside beside(const std::array<Digest, kAnswerKinds>& gold, const std::array<Digest, kAnswerKinds>& said) {
  if (gold == said) return Beside::kSame;
  for (std::size_t k = 0; k < kAnswerKinds; ++k) {
    if (gold[k] == said[k]) return Beside::kNothing;
  }
  return Beside::kOther;
}

// Whether the responses that `answer_of` has an answer for gave different ones (none is one, too): of a model that did, no one outcome is
// true.
template <class Responses, class AnswerOf>
bool differ(const Responses& responses, const AnswerOf& answer_of) {
  std::optional<std::uint32_t> first;
  for (const auto& response : responses) {
    const std::optional<std::uint32_t> answer = answer_of(response);
    if (answer && first.value_or(*answer) != *answer) return true;
    if (answer) first = answer;
  }
  return false;
}

bool same_statement(const Verdict& a, const Verdict& b) { return a.grades == b.grades && a.gold == b.gold && a.selected == b.selected; }

}  // namespace

Status PoolState::can_grade(bool by_gold, const DecisionRecord& decision) {
  if (!by_gold || answers_are_kept(decision.answers)) return {};
  return {ErrorCode::kUnsupported, "gold: the answers of this decision were not kept, so nothing can be compared with it"};
}

std::vector<Grade> PoolState::grades_of(const DecisionRecord& decision, std::span<const double> outcomes) const {
  std::vector<Grade> grades;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] != outcomes[i]) continue;
    const DecisionRecord::Response& response = decision.responses[i];
    const auto responses = std::count_if(decision.responses.begin(), decision.responses.end(),
                                         [&](const DecisionRecord::Response& other) { return other.model == response.model; });
    grades.push_back(
        {.model = members[response.model].name, .outcome = outcomes[i], .channel = responses > 1 ? cells[response.cell].channel : ""});
  }
  return grades;
}

bool PoolState::is_ambiguous(const Grade& grade, const DecisionRecord& decision) const {
  return grade.channel.empty() && differ(decision.responses, [&](const DecisionRecord::Response& response) {
           const bool graded = response.usable && members[response.model].name == grade.model;
           return graded ? std::optional(response.answer) : std::nullopt;
         });
}

Result<OutcomeObserved> PoolState::resolve_waiting(const Verdict& verdict, const DecisionRecord& decision) const {
  if (Status status = can_grade(verdict.gold.has_value(), decision); !status) return status.error();
  for (const Grade& grade : verdict.grades) {
    if (is_ambiguous(grade, decision)) return {ErrorCode::kUnsupported, "grades: " + grade.model + " gave different answers"};
  }
  const auto outcomes = outcomes_of(verdict, decision, members, cells);
  if (!outcomes) return outcomes.error();
  return OutcomeObserved{.decision = decision.id,
                         .grades = verdict.grades.empty() ? grades_of(decision, *outcomes) : verdict.grades,
                         .weight = verdict.weight,
                         .source = verdict.source};
}

Result<Comparison> PoolState::compare(const OutcomeObserved& outcome) const {
  if (Status status = check_outcome(outcome, config); !status) return status.error();
  if (const DecisionRecord* decision = decisions.find(outcome.decision)) return compare_known(outcome, *decision);
  return compare_waiting(outcome);
}

Result<Comparison> PoolState::compare_known(const OutcomeObserved& outcome, const DecisionRecord& decision) const {
  if (Status status = can_grade(outcome.gold.has_value(), decision); !status) return status.error();
  const auto outcomes = outcomes_of(verdict_of(outcome, decision.kind), decision, members, cells);
  if (!outcomes) return outcomes.error();
  Comparison comparison{.known = true};
  const std::vector<FeedbackMark>& marks = decision.later->feedbacks;
  bool heeded = false;
  for (std::size_t i = 0; i < outcomes->size(); ++i) {
    const double wanted = (*outcomes)[i];
    if (wanted != wanted) continue;
    const DecisionRecord::Response& response = decision.responses[i];
    const FeedbackMark* said = response.graded() ? &marks[decision.outcome_of(response).feedback] : nullptr;
    if (said == nullptr || said->reverted) {
      comparison.fresh = true;
      heeded |= said != nullptr || !teaches(decision, response, wanted) || would_heed(outcome.source, response.model, outcome.weight);
    } else {
      say_once(decision.outcome_of(response).value == wanted ? comparison.same : comparison.contradicted, said->id, said->source);
    }
  }
  comparison.capped = comparison.fresh && !heeded && outcome.weight > 0.0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const bool own = marks[i].source == outcome.source;
    if (!marks[i].reverted && decision.grades(i)) continue;
    if (own) ++comparison.idle;
    if (marks[i].reverted) continue;
    ++comparison.ungraded_count;
    if (own) comparison.ungraded.push_back(marks[i].id);
  }
  return comparison;
}

Comparison PoolState::compare_waiting(const OutcomeObserved& outcome) const {
  Comparison comparison;
  const Verdict verdict = verdict_of(outcome, std::nullopt);
  std::vector<bool> said_of(verdict.grades.size());
  for (const EarlyFeedback::Entry* entry : early.waiting(outcome.decision)) {
    const Verdict& waits = entry->verdict;
    const bool own = waits.source == verdict.source;
    if (own) ++comparison.idle;
    if (entry->reverted) continue;
    if (waits.weight == 0.0) {
      ++comparison.ungraded_count;
      if (own) comparison.ungraded.push_back(entry->id);
      if (own && verdict.weight == 0.0 && same_statement(verdict, waits)) {
        say_once(comparison.same, entry->id, waits.source);
        std::fill(said_of.begin(), said_of.end(), true);
      }
      continue;
    }
    const auto note = [&](Beside how) {
      if (how == Beside::kSame) say_once(comparison.same, entry->id, waits.source);
      if (how == Beside::kOther) say_once(comparison.contradicted, entry->id, waits.source);
    };
    if (verdict.gold && waits.gold) note(beside(*verdict.gold, *waits.gold));
    if (verdict.selected && waits.selected) note(*verdict.selected == *waits.selected ? Beside::kSame : Beside::kOther);
    for (std::size_t g = 0; g < verdict.grades.size(); ++g) {
      for (const Grade& grade : waits.grades) {
        const Beside how = beside(verdict.grades[g], grade);
        note(how);
        // Said of one channel, it is not said of all.
        if (how == Beside::kSame && (grade.channel.empty() || grade.channel == verdict.grades[g].channel)) said_of[g] = true;
      }
    }
  }
  comparison.fresh = verdict.grades.empty() ? comparison.same.empty() && comparison.contradicted.empty()
                                            : std::find(said_of.begin(), said_of.end(), false) != said_of.end();
  return comparison;
}

std::vector<Uuid> PoolState::waiting_ambiguous(Uuid id, const DecisionMade& decision) const {
  const auto ambiguous = [&](const Grade& grade) {
    return grade.channel.empty() && differ(decision.responses, [&](const RecordedResponse& response) {
             const bool graded = response.confidence && !response.abstained && response.model == grade.model;
             return graded ? std::optional(response.answer) : std::nullopt;
           });
  };
  std::vector<Uuid> found;
  for (const EarlyFeedback::Entry* entry : early.waiting(id)) {
    const std::vector<Grade>& grades = entry->verdict.grades;
    if (!entry->reverted && std::any_of(grades.begin(), grades.end(), ambiguous)) found.push_back(entry->id);
  }
  return found;
}

}  // namespace internal
}  // namespace margin
