// Service, the part that takes feedback back: whether that can be done, and the state folded anew without it.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "log/recovery.h"
#include "service/service.h"

namespace margin::service {
namespace {

// Records read at a time.
constexpr std::uint64_t kPage = 4096;

// Events that the loop folds in a turn: some tenths of a millisecond; and at most, which is more than can come in one.
constexpr std::uint64_t kFoldedAtOnce = 128;
constexpr std::uint64_t kFoldedAtOnceMax = 1024;

// The feedbacks that a state has outcomes from, of those that `wanted` names, and their decisions.
using Held = std::map<Uuid, Uuid>;

void add_held(const DecisionView& decision, const std::set<Uuid>& wanted, Held& held) {
  for (const ResponseView& response : decision.responses) {
    if (response.feedback && wanted.contains(*response.feedback)) held.emplace(*response.feedback, decision.id);
  }
}

Held held_of(const Pool& pool, const std::set<Uuid>& wanted) {
  Held held;
  for (const Uuid id : pool.latest_decisions(std::numeric_limits<std::size_t>::max())) add_held(*pool.decision(id), wanted, held);
  return held;
}

// What `revert` would take back from the state that was kept at an offset.
Result<Held> held_at(EventLog& log, const std::string& pool, std::uint64_t offset, Event revert) {
  const auto snapshot = log.latest_snapshot(pool, offset);
  if (!snapshot) return snapshot.error();
  if (!*snapshot) return Held();
  auto state = Pool::restore((*snapshot)->bytes);
  if (!state) return state.error();
  revert.time_ms = state->time_ms();
  const ApplyResult reverted = state->apply(revert);
  if (reverted.status != ApplyStatus::kRefold) return Held();
  return held_of(*state, {reverted.reverted.begin(), reverted.reverted.end()});
}

Error too_late(const std::string& field) {
  return {ErrorCode::kUnsupported, field + ": it was taken into the state before what the log retains, and can no longer be taken back"};
}

}  // namespace

Result<RevertPermit> Service::can_revert(ServedPool& pool, Uuid feedback) {
  RevertPermit permit = horizons_.hold(pool.name());
  auto record = log_.find(pool.name(), feedback);
  if (!record) return record.error();
  if (!*record || !std::holds_alternative<OutcomeObserved>((*record)->event.body)) {
    return {ErrorCode::kNotFound, "feedback_id: pool " + pool.name() + " has no such feedback, or keeps it no longer"};
  }
  const auto earliest = earliest_start(log_, pool.name());
  if (!earliest) return earliest.error();
  if ((*record)->offset < std::max(*earliest, permit->moving_to.value_or(0))) return too_late("feedback_id");
  return permit;
}

void Service::can_revert(ServedPool& pool, std::string source, Permitted answer) {
  RevertPermit permit = horizons_.hold(pool.name());
  if (!permit->moving_to) return permit_source(pool, std::move(source), std::move(permit), std::move(answer));
  // What the state there holds is known when it is there: behind the retention that is under way, and no other begins.
  background_.run([this, &pool, alive = alive_, source = std::move(source), permit = std::move(permit), answer = std::move(answer)] {
    options_.post([this, &pool, alive, source, permit, answer] {
      if (*alive) permit_source(pool, source, permit, answer);
    });
  });
}

void Service::permit_source(ServedPool& pool, std::string source, RevertPermit permit, Permitted answer) {
  const auto earliest = earliest_start(log_, pool.name());
  if (!earliest) return answer(earliest.error());
  const std::optional<Uuid> oldest = pool.pool().oldest_decision();
  if (*earliest == 0 || !oldest) return answer(std::move(permit));
  // What a state holds it has decided before.
  const auto next = log_.read(pool.name(), *earliest, 1);
  if (!next) return answer(next.error());
  if (!next->empty() && pool.pool().decision(*oldest)->time_ms > next->front().event.time_ms) return answer(std::move(permit));
  const Event revert{.id = new_id(), .body = OutcomeReverted{.feedback = {}, .source = std::move(source)}};
  background_.run([this, &pool, alive = alive_, name = pool.name(), earliest = *earliest, revert, permit = std::move(permit),
                   answer = std::move(answer)] {
    const auto then = std::make_shared<Result<Held>>(held_at(log_, name, earliest, revert));
    options_.post([&pool, alive, then, permit, answer] {
      if (!*alive) return;
      if (!then->ok()) return answer(then->error());
      for (const auto& [feedback, decision] : **then) {
        Held still;
        if (const auto now = pool.pool().decision(decision)) add_held(*now, {feedback}, still);
        if (!still.empty()) return answer(too_late("source: feedback " + feedback.text()));
      }
      answer(permit);
    });
  });
}

// A state that is folded anew.
struct Service::Folding {
  RecoveredPool folded;
  // It was folded from the earliest state that is kept: another fold of the same events would come to the same.
  bool out_of_reach = folded.pool.needs_fold();
  bool whole = true;  // no revert came meanwhile that asks for another fold, and the log could be read
  // Events that it was behind, when the loop last looked.
  std::uint64_t behind = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t at_once = 0;  // that the loop folds in a turn; 0: what came is still folded on the side

  // Folds what came since, up to `count` events before `upto`.
  void catch_up(EventLog& log, const std::string& pool, std::uint64_t upto, std::uint64_t count = kPage) {
    while (whole && count > 0 && folded.next < upto) {
      const auto records = log.read(pool, folded.next, std::min({kPage, count, upto - folded.next}));
      whole = records.ok() && !records->empty();
      if (!whole) return;
      for (const Record& record : *records) whole &= folded.pool.apply(record.event).status != ApplyStatus::kRefold;
      folded.next = records->back().offset + 1;
      count -= std::min<std::uint64_t>(count, records->size());
    }
  }
};

void Service::fold_again(ServedPool& pool, AwaitingFold awaiting) {
  awaiting_fold_[pool.name()].push_back(std::move(awaiting));
  if (pool.folding) return;
  pool.folding = true;
  background_.run([this, &pool, alive = alive_, name = pool.name(), upto = pool.next_offset()] {
    auto folded = std::make_shared<Result<RecoveredPool>>(margin::recover(log_, name, upto));
    options_.post([this, &pool, alive, folded] {
      if (!*alive) return;
      if (*folded) return adopt(pool, std::make_shared<Folding>(Folding{std::move(**folded)}));
      options_.complain("pool " + pool.name() + " could not be folded again: " + folded->error().message);
      for (const AwaitingFold& one : end_fold(pool)) {
        tell_if_revert(pool, one);
        one.done(Error{ErrorCode::kUnavailable, "the state could not be folded again; what was asked for is kept in the log"});
      }
    });
  });
}

std::vector<Service::AwaitingFold> Service::end_fold(ServedPool& pool) {
  pool.folding = false;
  return std::exchange(awaiting_fold_[pool.name()], {});
}

// The live state went on meanwhile; what came since is read from the log, and a revert among it means one more fold. It is folded on the
// side as long as that gains on what goes on coming, and what is left some at a time, so that nobody waits for it.
void Service::adopt(ServedPool& pool, const std::shared_ptr<Folding>& folding) {
  const std::uint64_t upto = pool.next_offset();
  const std::uint64_t behind = upto - folding->folded.next;
  const auto look_again = [this, &pool, alive = alive_, folding] {
    if (*alive) adopt(pool, folding);
  };
  if (folding->whole && folding->at_once == 0 && behind > kFoldedAtOnce && behind < folding->behind / 2) {
    folding->behind = behind;
    background_.run([this, name = pool.name(), folding, upto, look_again] {
      folding->catch_up(log_, name, upto);
      options_.post(look_again);
    });
    return;
  }
  // About as much comes in a turn: more of it, or this would not end.
  const bool falls_behind = folding->at_once > 0 && behind > folding->behind - folding->behind / 64;
  folding->at_once = falls_behind ? std::min(2 * folding->at_once, kFoldedAtOnceMax) : std::max(folding->at_once, kFoldedAtOnce);
  folding->behind = behind;
  folding->catch_up(log_, pool.name(), upto, folding->at_once);
  if (folding->whole && folding->folded.next < upto) return options_.post(look_again);
  std::vector<AwaitingFold> waiting = end_fold(pool);
  if (!folding->whole) {
    for (AwaitingFold& one : waiting) fold_again(pool, std::move(one));
    return;
  }
  // Letting go of a large state takes long, too.
  background_.run([before = std::make_shared<const Pool>(pool.swap_state(std::move(folding->folded.pool)))] {});
  pool.next_snapshot = 0;
  snapshot_when_due(pool);
  if (folding->out_of_reach) return answer_out_of_reach(pool, std::move(waiting));
  for (AwaitingFold& one : waiting) answer(pool, std::move(one));
}

void Service::answer_out_of_reach(ServedPool& pool, std::vector<AwaitingFold> waiting) {
  options_.complain("pool " + pool.name() +
                    ": a revert is in the log that reaches back behind the earliest state that is kept: what it names still counts, and no "
                    "more snapshots are kept");
  std::set<Uuid> reverted;
  for (const AwaitingFold& one : waiting) reverted.insert(one.applied.result.reverted.begin(), one.applied.result.reverted.end());
  const Held held = held_of(pool.pool(), reverted);
  for (AwaitingFold& one : waiting) {
    const std::vector<Uuid>& its = one.applied.result.reverted;
    const bool holds = std::any_of(its.begin(), its.end(), [&](const Uuid feedback) { return held.contains(feedback); });
    if (!holds) {
      answer(pool, std::move(one));
      continue;
    }
    tell_if_revert(pool, one);
    one.done(too_late("feedback_id"));
  }
}

// It is in the log, though the state could not follow.
void Service::tell_if_revert(ServedPool& pool, const AwaitingFold& awaiting) {
  if (std::holds_alternative<OutcomeReverted>(awaiting.event.body)) tell(pool, awaiting.event, awaiting.applied);
}

// An outcome that repeated or contradicted another counts now if the fold took that one back.
void Service::answer(ServedPool& pool, AwaitingFold awaiting) {
  ApplyResult& result = awaiting.applied.result;
  const auto* outcome = std::get_if<OutcomeObserved>(&awaiting.event.body);
  bool counts = outcome == nullptr;
  if (outcome != nullptr) {
    if (const auto decision = pool.pool().decision(outcome->decision)) {
      for (const ResponseView& response : decision->responses) {
        if (response.feedback != awaiting.event.id) continue;
        counts = true;
        (response.learned ? result.learned : result.unlearned).push_back(response.model);
      }
    }
  }
  if (counts) {
    result.status = ApplyStatus::kApplied;
    result.error.reset();
  } else if (const auto compared = pool.pool().compare(*outcome);
             compared && compared->known && !compared->fresh && compared->contradicted.empty()) {
    // Another said so before, and was contradicted by what was taken back.
    result.status = ApplyStatus::kDuplicate;
    result.error.reset();
  }
  if (outcome != nullptr && counts) pool.count_lag(awaiting.event);
  tell(pool, awaiting.event, awaiting.applied);
  awaiting.done(std::move(awaiting.applied));
}

}  // namespace margin::service
