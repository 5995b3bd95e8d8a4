#include "service/served_pool.h"

#include <algorithm>

#include "base/check.h"

namespace margin::service {
namespace {

// Feedbacks that figures are made of anew: enough for the windows of ten models that are graded one at a time.
constexpr std::size_t kToldAgain = 10 * ScoreWindow::kWindow;

}  // namespace

ServedPool::ServedPool(std::string name, Pool pool, std::uint64_t next_offset, const Limits& limits)
    : name_(std::move(name)),
      pool_(std::move(pool)),
      next_offset_(next_offset),
      stamped_ms_(pool_.time_ms()),
      requests_(limits.requests),
      needs_fold_(pool_.needs_fold()) {
  for (const Pool::Grading& told : pool_.latest_gradings(kToldAgain)) {
    score(*pool_.decision(told.decision), told.feedback, told.time_ms);
    insight_.count_outcome(told.time_ms);
  }
}

std::int64_t ServedPool::stamp(std::int64_t clock_ms) { return stamped_ms_ = std::max(stamped_ms_, clock_ms); }

ApplyResult ServedPool::apply(std::uint64_t offset, const Event& event) {
  MARGIN_CHECK(offset == next_offset_, "events are applied in the order of the log, each once");
  ++next_offset_;
  ApplyResult result = pool_.apply(event);
  needs_fold_ |= result.status == ApplyStatus::kRefold;
  count(event, result);
  insight_.applied(pool_, event, result);
  // Behind it, which makes the decision known there.
  if (!result.joined.empty()) count_joined(event, result.joined);
  return result;
}

void ServedPool::swap_state(Pool pool) {
  pool_ = std::move(pool);
  needs_fold_ = pool_.needs_fold();
  board_.forget();
  // The figures agree with the new state; that outcomes came, whatever became of them, stays counted.
  scores_.clear();
  insight_.forget_outcomes();
  for (const Pool::Grading& told : pool_.latest_gradings(kToldAgain)) score(*pool_.decision(told.decision), told.feedback, told.time_ms);
  insight_.agree_with(pool_);
}

void ServedPool::recall(const Record& record) {
  if (record.mark) requests_.settle(*record.mark, record.event.id);
  if (std::holds_alternative<DecisionMade>(record.event.body)) ++counts_.decisions;
  insight_.recall(record.event);
}

void ServedPool::recalled() {
  // Events may have been compacted away, or be more than were read, and decisions may have expired.
  counts_.decisions = std::max<std::uint64_t>(counts_.decisions, pool_.known_decisions());
  insight_.agree_with(pool_);
}

std::vector<const DecisionRow*> ServedPool::queue(std::size_t count, std::int64_t now_ms) const {
  // The state forgets with its next event: feedback would be that event, and find the decision gone.
  const std::int64_t horizon_ms = std::max(now_ms, pool_.time_ms()) - pool_.config().pending_ms_max;
  return insight_.decisions().queue(count, [&](const DecisionRow& row) { return row.time_ms >= horizon_ms && pool_.knows(row.id); });
}

void ServedPool::count(const Event& event, const ApplyResult& result) {
  counts_.lapsed += result.lapsed;
  if (const auto* made = std::get_if<DecisionMade>(&event.body); made != nullptr && result.status == ApplyStatus::kApplied) {
    ++counts_.decisions;
    if (made->abstained) ++counts_.abstained;
    ++counts_.by_status[static_cast<std::size_t>(made->sure.status)];
    counts_.dropped += result.dropped.size();
    return;
  }
  const auto* outcome = std::get_if<OutcomeObserved>(&event.body);
  if (outcome == nullptr) return;
  if (result.status != ApplyStatus::kApplied) return;
  count_lag(event);
  if (const auto decision = pool_.decision(outcome->decision)) score(*decision, event.id, event.time_ms);
}

void ServedPool::count_lag(const Event& outcome) {
  const auto decision = pool_.decision(std::get<OutcomeObserved>(outcome.body).decision);
  if (!decision) return;
  ++counts_.lag_count;
  counts_.lag_seconds += static_cast<double>(outcome.time_ms - decision->time_ms) / 1000.0;
}

// Feedback that came before its decision is to every figure what it would be had it come right after.
void ServedPool::count_joined(const Event& decision, const std::vector<ApplyResult::Joined>& joined) {
  for (const ApplyResult::Joined& one : joined) {
    count_feedback(one.status);
    const auto view = pool_.decision(decision.id);
    if (!view || one.status != ApplyStatus::kApplied) continue;
    ++counts_.lag_count;
    score(*view, one.feedback, decision.time_ms);
    const auto graded = [&](const ResponseView& response) { return response.feedback == one.feedback; };
    insight_.learned(pool_, decision.time_ms, std::any_of(view->responses.begin(), view->responses.end(), graded));
  }
}

void ServedPool::score(const DecisionView& decision, Uuid feedback, std::int64_t time_ms) {
  insight_.graded(decision, feedback, time_ms);
  for (const ResponseView& response : decision.responses) {
    if (!response.outcome || response.feedback != feedback || !response.part) continue;
    scores_[response.model].add({response.confidence, response.calibrated, *response.outcome});
  }
  if (decision.settled_by == feedback) scores_[std::string(kDecisions)].add({decision.p_correct, decision.p_correct, *decision.outcome});
}

}  // namespace margin::service
