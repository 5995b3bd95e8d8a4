// Service, the part that keeps snapshots of the pools, and takes out of the log what is old.
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <numeric>

#include "log/recovery.h"
#include "service/service.h"

namespace margin::service {
namespace {

// Records read at a time, to see whether there are reverts beside others who must not wait.
constexpr std::size_t kSearchedAtOnce = 256;

// After a snapshot of so many times this, as many events come before the next: however large a state grows, its snapshots do not come to
// more than a part of the log itself, and recovery from the last one takes not much more than a few times what reading that one takes.
constexpr std::uint64_t kBytesPerEvent = 128;

// Decisions that are copied for a snapshot in one turn of the loop: some tens of microseconds. Then for so many times as long none are: the
// loop has other things to do, and at half of what it can do others on its core want half of the rest.
constexpr std::size_t kDecisionsAtOnce = 64;
constexpr int kRestPerCopying = 9;

using Pieces = std::vector<std::string>;

// All of it at once, without a copy.
template <class P>
Pieces pieces_of(P& pool) {
  pool.begin_snapshot();
  return std::move(*pool.continue_snapshot(std::numeric_limits<std::size_t>::max()));
}

std::size_t bytes_in(const Pieces& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), std::size_t{0}, [](std::size_t sum, const auto& each) { return sum + each.size(); });
}

Result<std::uint64_t> next_of(EventLog& log, const std::string& pool) {
  auto positions = log.pools();
  if (!positions) return positions.error();
  for (const PoolPosition& position : *positions) {
    if (position.pool == pool) return position.next;
  }
  return std::uint64_t{0};
}

// The first offset whose event is not from before the horizon. Times never go back within a pool, so halving finds it.
Result<std::uint64_t> first_since(EventLog& log, const PoolPosition& position, std::int64_t horizon_ms) {
  std::uint64_t low = position.first;
  std::uint64_t high = position.next;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    auto record = log.read(position.pool, middle, 1);
    if (!record) return record.error();
    const bool old = !record->empty() && record->front().event.time_ms < horizon_ms;
    old ? low = middle + 1 : high = middle;
  }
  return low;
}

}  // namespace

// Bit by bit on the loop, so that nobody waits for the bytes of a large state, and no second copy of it is made.
void Service::snapshot_when_due(ServedPool& pool) {
  if (pool.folding || pool.needs_fold() || pool.next_offset() < pool.next_snapshot) return;
  // The next one is due before this one is kept: events come faster than it is written at leisure.
  if (pool.snapshotting) return background_.hurry();
  pool.snapshotting = true;
  pool.next_snapshot = pool.next_offset() + std::max(options_.bounds.snapshot_every, pool.snapshot_worth);
  pool.begin_snapshot();
  continue_snapshot(pool, pool.next_offset(), {});
}

void Service::continue_snapshot(ServedPool& pool, std::uint64_t offset, std::chrono::microseconds rest) {
  auto some = [this, &pool, alive = alive_, offset] {
    if (!*alive) return;
    // The state was folded anew: it wants one of its own.
    if (!pool.snapshot_under_way()) return void(pool.snapshotting = false);
    const auto begin = std::chrono::steady_clock::now();
    auto pieces = pool.continue_snapshot(kDecisionsAtOnce);
    if (pieces) return keep_snapshot(pool, offset, std::move(*pieces));
    const auto copying = std::chrono::steady_clock::now() - begin;
    // None where the next one is due before this one is copied.
    const bool late = pool.next_offset() >= pool.next_snapshot;
    continue_snapshot(pool, offset,
                      late ? std::chrono::microseconds(0) : std::chrono::ceil<std::chrono::microseconds>(kRestPerCopying * copying));
  };
  rest.count() > 0 && options_.post_after ? options_.post_after(rest, std::move(some)) : options_.post(std::move(some));
}

void Service::keep_snapshot(ServedPool& pool, std::uint64_t offset, Pieces pieces) {
  pool.snapshot_worth = bytes_in(pieces) / kBytesPerEvent;
  // 0: meanwhile the state was folded anew, and wants one of its own.
  if (pool.next_snapshot > 0) pool.next_snapshot = std::max(offset + options_.bounds.snapshot_every, offset + pool.snapshot_worth);
  const auto shared = std::make_shared<Pieces>(std::move(pieces));
  background_.run([this, &pool, alive = alive_, name = pool.name(), offset, shared] {
    const auto kept = std::make_shared<Status>(log_.keep_snapshot(name, {offset, std::move(*shared)}, [this] { background_.breathe(); }));
    options_.post([this, &pool, alive, kept] {
      if (!*alive) return;
      pool.snapshotting = false;
      if (kept->ok()) return;
      options_.complain("pool " + pool.name() + ": no snapshot was kept: " + kept->error().message);
      // The one before has to do until then: its size warrants no delay.
      if (pool.next_snapshot > 0) pool.next_snapshot = pool.next_offset() + options_.bounds.snapshot_every;
    });
  });
}

// A state at the horizon stands for what is taken out, and is the earliest to which reverts go back; so it must be without what was
// reverted since. Where nothing was, the nearest snapshot and the events behind it come to the same.
Status Service::compact_before(const PoolPosition& position, std::int64_t horizon_ms, AuditKept audit, const Pause& pause) {
  auto before = first_since(log_, position, horizon_ms);
  if (!before) return before.error();
  if (*before == position.first) return {};
  const Horizons::Move move = horizons_.move(position.pool, *before);
  if (!move) return {};
  // Whatever reaches back behind the horizon is in the log by now.
  const auto next = next_of(log_, position.pool);
  if (!next) return next.error();
  Searched& searched = searched_[position.pool];
  searched.end = std::max(searched.end, *before);
  while (searched.end < *next) {
    auto records = log_.read(position.pool, searched.end, std::min<std::uint64_t>(kSearchedAtOnce, *next - searched.end));
    if (!records) return records.error();
    if (records->empty()) break;
    for (const Record& record : *records) {
      if (std::holds_alternative<OutcomeReverted>(record.event.body)) searched.after_last = record.offset + 1;
    }
    searched.end = records->back().offset + 1;
    pause();
  }
  Result<Pool> state = [&]() -> Result<Pool> {
    if (searched.after_last > *before) return recover_horizon(log_, position.pool, *before, searched.after_last, pause);
    auto recovered = margin::recover(log_, position.pool, *before, pause);
    if (!recovered) return recovered.error();
    return std::move(recovered->pool);
  }();
  if (!state) return state.error();
  if (state->needs_fold()) return {ErrorCode::kUnsupported, "a revert reaches back behind the earliest state that is kept"};
  if (Status kept = log_.keep_snapshot(position.pool, {*before, pieces_of(*state)}, pause); !kept) return kept;
  return log_.compact(position.pool, *before, audit);
}

void Service::retain(std::int64_t horizon_ms, AuditKept audit) {
  background_.run([this, retention = std::make_shared<Retention>(Retention{horizon_ms, audit})] {
    auto positions = log_.pools();
    if (positions) retention->pools = std::move(*positions);
    if (!positions) retention->problem = positions.error().message;
    retain_next(retention);
  });
}

void Service::retain_next(const std::shared_ptr<Retention>& retention) {
  if (retention->pools.empty()) {
    if (retention->problem.empty()) return;
    return options_.post([this, alive = alive_, retention] {
      if (*alive) options_.complain("old events could not be taken out of the log: " + retention->problem);
    });
  }
  background_.run([this, retention] {
    const PoolPosition position = std::move(retention->pools.back());
    retention->pools.pop_back();
    const Status done = compact_before(position, retention->horizon_ms, retention->audit, [this] { background_.breathe(); });
    if (!done) retention->problem = "pool " + position.pool + ": " + done.error().message;
    retain_next(retention);
  });
}

void Service::keep_snapshots() {
  background_.wait();
  for (const auto& [name, pool] : pools_) {
    if (pool->needs_fold() || pool->next_offset() == 0) continue;
    const Status kept = log_.keep_snapshot(name, {pool->next_offset(), pieces_of(*pool)}, {});
    if (!kept) options_.complain("pool " + name + ": no snapshot was kept: " + kept.error().message);
  }
}

}  // namespace margin::service
