// Reverts: marks that take feedback back. The state itself is put right by fold (pool.cc).
#include <algorithm>
#include <string>
#include <utility>

#include "pool/limits.h"
#include "pool/state.h"

namespace margin::internal {

ApplyResult PoolState::on(const OutcomeReverted& event, Context) {
  if (event.feedback) return revert_feedback(*event.feedback);
  if (!event.source.empty()) return revert_source(event.source);
  return refused(ErrorCode::kInvalidArgument, "revert: expected a feedback or a source");
}

ApplyResult PoolState::revert_feedback(Uuid feedback) {
  const auto marked = [&](bool anew, bool held) -> ApplyResult {
    if (!anew) return changed(false);
    return {.status = held ? ApplyStatus::kRefold : ApplyStatus::kApplied, .reverted = {feedback}};
  };
  for (const DecisionRecord& decision : decisions) {
    for (std::size_t i = 0; i < decision.later->feedbacks.size(); ++i) {
      if (decision.later->feedbacks[i].id != feedback) continue;
      return marked(!std::exchange(decisions.change(decision).later.change().feedbacks[i].reverted, true), decision.holds(i));
    }
  }
  for (EarlyFeedback::Entry& entry : early) {
    if (entry.id == feedback) return marked(early.take_back(entry), false);
  }

  if (forgotten(feedback)) {
    return refused(ErrorCode::kNotFound, "feedback: " + feedback.text() + " is unknown or older than pending_ms_max = " +
                                             std::to_string(config.pending_ms_max) + " ms; what it taught can no longer be taken back");
  }
  if (awaited_reverts.contains(feedback)) return changed(false);
  if (awaited_reverts.size() >= config.early_max) {
    return refused(ErrorCode::kLimit,
                   "reverts of feedback that has not come: expected at most early_max = " + std::to_string(config.early_max));
  }
  awaited_reverts.insert(feedback, time_ms);
  return {};
}

ApplyResult PoolState::revert_source(std::string_view source) {
  bool known = false;
  bool held = false;
  std::vector<Uuid> reverted;
  for (const DecisionRecord& decision : decisions) {
    for (std::size_t i = 0; i < decision.later->feedbacks.size(); ++i) {
      const FeedbackMark& mark = decision.later->feedbacks[i];
      if (mark.source != source) continue;
      known = true;
      if (mark.reverted) continue;
      decisions.change(decision).later.change().feedbacks[i].reverted = true;
      reverted.push_back(mark.id);
      held |= decision.holds(i);
    }
  }
  for (EarlyFeedback::Entry& entry : early) {
    if (entry.verdict.source != source) continue;
    known = true;
    if (early.take_back(entry)) reverted.push_back(entry.id);
  }
  if (!known) {
    return refused(ErrorCode::kNotFound,
                   "source: no feedback of it within pending_ms_max = " + std::to_string(config.pending_ms_max) + " ms");
  }
  if (reverted.empty()) return changed(false);
  return {.status = held ? ApplyStatus::kRefold : ApplyStatus::kApplied, .reverted = std::move(reverted)};
}

bool PoolState::heard(std::string_view source) const {
  const auto said = [&](const FeedbackMark& mark) { return mark.source == source; };
  const auto of_source = [&](const DecisionRecord& decision) {
    return std::any_of(decision.later->feedbacks.begin(), decision.later->feedbacks.end(), said);
  };
  return std::any_of(decisions.begin(), decisions.end(), of_source) ||
         std::any_of(early.begin(), early.end(), [&](const EarlyFeedback::Entry& entry) { return entry.verdict.source == source; });
}

bool PoolState::needs_fold() const {
  return std::any_of(decisions.begin(), decisions.end(), [](const DecisionRecord& decision) {
    for (std::size_t i = 0; i < decision.later->feedbacks.size(); ++i) {
      if (decision.later->feedbacks[i].reverted && decision.holds(i)) return true;
    }
    return false;
  });
}

}  // namespace margin::internal
