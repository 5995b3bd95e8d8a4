// An outcome: finds its decision (or waits for it), is recorded there once, and is learned.
#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "pool/limits.h"
#include "pool/state.h"

namespace margin::internal {
namespace {

ApplyResult too_many_feedbacks() {
  return refused(ErrorCode::kLimit, "decision: expected at most " + std::to_string(kFeedbacksMax) + " feedbacks of one decision");
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

ApplyResult PoolState::on(const OutcomeObserved& event, Context context) {
  if (Status status = check_outcome(event, config); !status) return refused(status.error());
  const bool reverted = context.taken_back || awaited_reverts.contains(context.id);

  if (DecisionRecord* decision = decisions.change(event.decision)) {
    const Verdict verdict = verdict_of(event, decision->kind);
    const auto outcomes = outcomes_of(verdict, *decision, members, cells);
    if (!outcomes) return refused(outcomes.error());
    if (decision->later->feedbacks.size() >= kFeedbacksMax) return too_many_feedbacks();
    return record(*decision, {context.id, event.source, reverted, time_ms}, verdict, *outcomes);
  }

  if (forgotten(event.decision)) return {.status = ApplyStatus::kExpired};
  Verdict verdict = verdict_of(event, std::nullopt);
  if (early.outcomes() + verdict.outcomes() > config.early_max) {
    return refused(ErrorCode::kLimit, "early outcomes: " + std::to_string(early.outcomes()) + " kept and " +
                                          std::to_string(verdict.outcomes()) +
                                          " new, expected at most early_max = " + std::to_string(config.early_max));
  }
  if (early.waiting_for(event.decision) >= kFeedbacksMax) return too_many_feedbacks();
  early.keep({context.id, event.decision, time_ms, reverted, std::move(verdict)});
  return {.status = reverted ? ApplyStatus::kReverted : ApplyStatus::kPendingDecision};
}

ApplyResult PoolState::record(DecisionRecord& decision, const FeedbackMark& mark, const Verdict& verdict,
                              std::span<const double> outcomes) {
  decision.later.change().feedbacks.push_back(mark);
  if (mark.reverted) return {.status = ApplyStatus::kReverted};
  // An opinion without weight is kept on record and leaves the response open to those who have some.
  if (verdict.weight == 0.0) return {};
  ApplyResult result = grade(decision, verdict, outcomes);
  decision.later.change().feedbacks.back().heard = watch.state(decision, mark.source, outcomes, time_ms);
  // Feedback that grades nobody must not matter: a revert need not take it back.
  const bool graded = !result.learned.empty() || !result.unlearned.empty();
  if (graded && (!decision.pending() || (remedied(decision) && decision.settled()))) watch.settle(decision, time_ms);
  return result;
}

bool PoolState::confirms(const DecisionRecord& decision, const DecisionRecord::Response& response, double outcome) {
  return response.standing == Standing::kImplied && decision.outcome_of(response).value == outcome;
}

bool PoolState::teaches(const DecisionRecord& decision, const DecisionRecord::Response& response, double outcome) const {
  return !confirms(decision, response, outcome) && response.part && members[response.model].present() && !frozen;
}

ApplyResult PoolState::grade(DecisionRecord& decision, const Verdict& verdict, std::span<const double> outcomes) {
  const auto feedback = static_cast<std::uint32_t>(decision.later->feedbacks.size() - 1);
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] != outcomes[i]) continue;
    const DecisionRecord::Response& response = decision.responses[i];
    if (!response.graded()) {
      fresh.push_back(i);
    } else if (const DecisionRecord::Outcome& known = decision.outcome_of(response); known.value != outcomes[i]) {
      return {.status = ApplyStatus::kConflict,
              .error = Error{ErrorCode::kConflict, "outcome of " + members[response.model].name + ": got " + shortest(outcomes[i]) +
                                                       ", but feedback " + decision.later->feedbacks[known.feedback].id.text() + " said " +
                                                       shortest(known.value)}};
    }
  }
  if (fresh.empty()) return {.status = ApplyStatus::kDuplicate};

  ApplyResult result;
  const bool waited = decision.pending();
  // What was implied before and is now confirmed has been learned already.
  std::vector<std::size_t> graded, news;
  for (const std::size_t i : fresh) {
    DecisionRecord::Response& response = decision.responses[i];
    const bool confirmed = confirms(decision, response, outcomes[i]);
    const bool lesson = teaches(decision, response, outcomes[i]);
    if (lesson && !heeds(decision.later->feedbacks[feedback], response.model, verdict.weight)) {
      add_once(result.capped, members[response.model].name);
      continue;
    }
    response.standing = Standing::kGraded;
    decision.change_outcome(response) = {outcomes[i], verdict.weight, feedback};
    graded.push_back(i);
    if (confirmed) continue;
    response.learned = lesson;
    news.push_back(i);
  }
  if (graded.empty()) return result;
  if (waited && !decision.pending()) decisions.completed();

  bool everybody = true;
  bool beyond_audits = false;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const DecisionRecord::Response& response = decision.responses[i];
    everybody &= !response.part || (response.graded() && outcomes[i] == outcomes[i]);
    beyond_audits |= response.part && !decision.supports(response) && decision.audit_of(response) == 0.0;
  }
  const std::vector<Taught> taught = learn(decision, {feedback, news, verdict.weight, everybody && beyond_audits});
  teach_trust(decision, graded);

  for (const Taught& lesson : taught) {
    const DecisionRecord::Response& response = decision.responses[lesson.response];
    add_once(response.graded() ? result.learned : result.implied, members[response.model].name);
  }
  for (const std::size_t i : graded) {
    const bool learned_now = std::any_of(taught.begin(), taught.end(), [&](const Taught& lesson) { return lesson.response == i; });
    if (!learned_now) add_once(result.unlearned, members[decision.responses[i].model].name);
  }
  return result;
}

// The first feedback that grades a response with the selected answer settles the decision; like an answer's outcome for a vote, the
// decision's is the largest of them. What settles while learning is frozen is never learned.
void PoolState::teach_trust(DecisionRecord& decision, std::span<const std::size_t> fresh) {
  if (!decision.share) return;
  double outcome = -1.0;
  double weight = 1.0;
  for (const std::size_t i : fresh) {
    const DecisionRecord::Response& response = decision.responses[i];
    if (response.answer != decision.selected) continue;
    outcome = std::max(outcome, decision.outcome_of(response).value);
    weight = decision.outcome_of(response).weight;
  }
  if (outcome < 0.0) return;
  if (!frozen) {
    const Status learned = trust->observe({.share = *decision.share, .outcome = outcome, .weight = weight});
    MARGIN_CHECK(learned.ok(), "shares, outcomes and weights were checked");
  }
  decision.share.reset();
}

}  // namespace margin::internal
