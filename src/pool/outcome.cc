// An outcome: finds its decision (or waits for it), is recorded there once, and is learned.
#include <algorithm>
#include <charconv>
#include <string>

#include "base/check.h"
#include "pool/limits.h"
#include "pool/state.h"

namespace margin::internal {
namespace {

std::string show(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

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

  if (DecisionRecord* decision = decisions.find(event.decision)) {
    const Verdict verdict = verdict_of(event, decision->kind);
    const auto outcomes = outcomes_of(verdict, *decision, members, cells);
    if (!outcomes) return refused(outcomes.error());
    if (decision->feedbacks.size() >= kFeedbacksMax) return too_many_feedbacks();
    return record(*decision, {context.id, event.source, reverted}, verdict, *outcomes);
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
  const auto feedback = static_cast<std::uint32_t>(decision.feedbacks.size());
  decision.feedbacks.push_back(mark);
  if (mark.reverted) return {.status = ApplyStatus::kReverted};

  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] != outcomes[i]) continue;
    const DecisionRecord::Response& response = decision.responses[i];
    if (!response.graded()) {
      fresh.push_back(i);
    } else if (response.outcome != outcomes[i]) {
      return {.status = ApplyStatus::kConflict,
              .error = Error{ErrorCode::kConflict, "outcome of " + members[response.model].name + ": got " + show(outcomes[i]) +
                                                       ", but feedback " + decision.feedbacks[response.feedback].id.text() + " said " +
                                                       show(response.outcome)}};
    }
  }
  if (fresh.empty()) return {.status = ApplyStatus::kDuplicate};

  for (const std::size_t i : fresh) {
    DecisionRecord::Response& response = decision.responses[i];
    response.outcome = outcomes[i];
    response.weight = verdict.weight;
    response.feedback = feedback;
    response.learned = response.part && members[response.model].present() && !frozen;
  }
  learn(decision, fresh);
  teach_trust(decision, fresh);

  ApplyResult result;
  for (const std::size_t i : fresh) {
    const DecisionRecord::Response& response = decision.responses[i];
    add_once(response.learned ? result.learned : result.unlearned, members[response.model].name);
  }
  return result;
}

void PoolState::learn(const DecisionRecord& decision, std::span<const std::size_t> fresh) {
  std::vector<CellId> touched;
  bool ballot_graded = false;
  for (const std::size_t i : fresh) {
    const DecisionRecord::Response& response = decision.responses[i];
    ballot_graded |= response.votes();
    if (response.learned && std::find(touched.begin(), touched.end(), response.cell) == touched.end()) touched.push_back(response.cell);
  }
  // To a cell, one accepted feedback is one task.
  for (const CellId cell : touched) cells.calibrator(cell).begin_task();
  for (const std::size_t i : fresh) {
    const DecisionRecord::Response& response = decision.responses[i];
    if (!response.learned) continue;
    // A cell that was configured anew since the decision does not know the model yet.
    cells.enter(response.cell, response.model, members[response.model].predecessor);
    cells.observe(response.cell,
                  {.model = response.model, .confidence = response.confidence, .outcome = response.outcome, .weight = response.weight});
  }
  for (const CellId cell : touched) cells.calibrator(cell).end_task();

  const auto waits = [](const DecisionRecord::Response& response) { return response.votes() && !response.graded(); };
  if (ballot_graded && std::none_of(decision.responses.begin(), decision.responses.end(), waits)) teach_vote(decision);
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
    outcome = std::max(outcome, response.outcome);
    weight = response.weight;
  }
  if (outcome < 0.0) return;
  if (!frozen) {
    const Status learned = trust->observe({.share = *decision.share, .outcome = outcome, .weight = weight});
    MARGIN_CHECK(learned.ok(), "shares, outcomes and weights were checked");
  }
  decision.share.reset();
}

// From the ballots whose outcome was learned: what came while learning was frozen, or while its model was away, teaches nobody.
// The task weighs as much as its least weighty outcome.
void PoolState::teach_vote(const DecisionRecord& decision) {
  std::vector<Ballot> ballots;
  std::vector<double> outcomes;
  // Numbered anew, in the order they come: an answer without a ballot must not stand for election.
  std::vector<std::uint32_t> number(decision.answers.size(), kNoAnswer);
  std::uint32_t answers = 0;
  double weight = 1.0;
  for (const DecisionRecord::Response& response : decision.responses) {
    if (!response.votes() || !response.learned) continue;
    if (number[response.answer] == kNoAnswer) number[response.answer] = answers++;
    ballots.push_back({response.model, number[response.answer], response.calibrated});
    outcomes.push_back(response.outcome);
    weight = std::min(weight, response.weight);
  }
  if (!ballots.empty()) vote->learn(ballots, answers, outcomes, weight);
}

}  // namespace margin::internal
