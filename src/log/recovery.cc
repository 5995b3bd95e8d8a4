#include "log/recovery.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"

namespace margin {
namespace {

// Few, since the journal of a store cannot begin anew while they are read.
constexpr std::size_t kRecordsAtOnce = 256;
constexpr std::size_t kRecordsBetweenPauses = 64;

// Offset 0 needs no snapshot: the empty pool.
struct Start {
  std::uint64_t offset = 0;
  std::string bytes{};

  [[nodiscard]] Result<Pool> pool() const { return bytes.empty() ? Result<Pool>(Pool()) : Pool::restore(bytes); }
};

Status each_event(EventLog& log, std::string_view pool, std::uint64_t from, std::uint64_t until,
                  const std::function<void(const Event&)>& visit, const Pause& pause = {}) {
  while (from < until) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(pause ? kRecordsBetweenPauses : kRecordsAtOnce, until - from));
    const Result<std::vector<Record>> records = log.read(pool, from, wanted);
    if (!records) return records.error();
    if (records->empty())
      return {ErrorCode::kCorrupt, "event " + std::to_string(from) + " of pool " + internal::printable(pool) + " is missing"};
    for (const Record& record : *records) visit(record.event);
    from += records->size();
    if (pause) pause();
  }
  return {};
}

Result<Pool> fold_from(EventLog& log, std::string_view pool, const Start& start, std::uint64_t until, const Pause& pause) {
  return fold([&] { return start.pool(); },
              [&](const std::function<void(const Event&)>& visit) { return each_event(log, pool, start.offset, until, visit, pause); });
}

Result<PoolPosition> position_of(EventLog& log, std::string_view pool) {
  Result<std::vector<PoolPosition>> positions = log.pools();
  if (!positions) return positions.error();
  for (PoolPosition& position : *positions) {
    if (position.pool == pool) return std::move(position);
  }
  return PoolPosition{.pool = std::string(pool)};
}

// Where a fold to `until` may start, the nearest first: snapshots, then the beginning if it is retained.
Result<std::vector<std::uint64_t>> starts(EventLog& log, const PoolPosition& position, std::uint64_t until) {
  Result<std::vector<std::uint64_t>> offsets = log.snapshots(position.pool);
  if (!offsets) return offsets;
  if (!offsets->empty() && offsets->back() > position.next) {
    return {ErrorCode::kCorrupt, "pool " + internal::printable(position.pool) + ": a snapshot at " + std::to_string(offsets->back()) +
                                     " is beyond the end of the log, " + std::to_string(position.next) +
                                     ": an old log under a newer state"};
  }
  std::erase_if(*offsets, [&](std::uint64_t offset) { return offset > until || offset < position.first; });
  if (position.first == 0 && (offsets->empty() || offsets->front() != 0)) offsets->insert(offsets->begin(), 0);
  std::reverse(offsets->begin(), offsets->end());
  return offsets;
}

// Nothing, with a finding, when the snapshot there is damaged.
Result<std::optional<Start>> start_at(EventLog& log, std::string_view pool, std::uint64_t offset, std::vector<std::string>& findings) {
  Result<std::optional<StoredSnapshot>> snapshot = log.latest_snapshot(pool, offset);
  if (!snapshot) {
    if (snapshot.error().code != ErrorCode::kCorrupt) return snapshot.error();
    findings.push_back(snapshot.error().message);
    return std::optional<Start>();
  }
  if (*snapshot && (*snapshot)->offset == offset) return std::optional<Start>(Start{offset, std::move((*snapshot)->bytes)});
  return offset == 0 ? std::optional<Start>(Start()) : std::nullopt;
}

std::string out_of_reach(std::string_view pool) {
  return "pool " + internal::printable(pool) + ": holds an outcome that was reverted, from before the first retained state";
}

// From the first of `offsets` that serves.
Result<RecoveredPool> recover_from(EventLog& log, std::string_view pool, const std::vector<std::uint64_t>& offsets, std::uint64_t until,
                                   const Pause& pause = {}) {
  std::vector<std::string> findings;
  std::optional<RecoveredPool> nearly;
  for (const std::uint64_t offset : offsets) {
    const Result<std::optional<Start>> start = start_at(log, pool, offset, findings);
    if (!start) return start.error();
    if (!*start) continue;
    Result<Pool> folded = fold_from(log, pool, **start, until, pause);
    if (!folded) return folded.error();
    nearly = RecoveredPool{.pool = std::move(folded).value(), .next = until, .from = offset};
    if (!nearly->pool.needs_fold()) break;
  }
  const std::string name = "pool " + internal::printable(pool) + ": ";
  if (!nearly) {
    const std::string why = findings.empty() ? "its first events are compacted away and it has no snapshot" : findings.front();
    return {ErrorCode::kCorrupt, name + "cannot be recovered: " + why};
  }
  if (nearly->pool.needs_fold()) findings.push_back(out_of_reach(pool));
  nearly->findings = std::move(findings);
  return std::move(*nearly);
}

void verify_pool(EventLog& log, VerifiedPool& report) {
  const std::string& pool = report.position.pool;
  const auto complain = [&](const Error& error) { report.findings.push_back(error.message); };
  const Status read = each_event(log, pool, report.position.first, report.position.next, [&](const Event&) { ++report.events; });
  if (!read) return complain(read.error());

  const Result<std::vector<std::uint64_t>> offsets = starts(log, report.position, report.position.next);
  if (!offsets) return complain(offsets.error());
  // Each snapshot against the fold from where one could start before it: together the whole log.
  for (std::size_t i = offsets->size(); i-- > 0;) {
    const std::uint64_t offset = (*offsets)[i];
    const Result<std::optional<Start>> kept = start_at(log, pool, offset, report.findings);
    if (!kept) return complain(kept.error());
    const std::vector<std::uint64_t> earlier(offsets->begin() + static_cast<std::ptrdiff_t>(i) + 1, offsets->end());
    if (!*kept || earlier.empty()) continue;
    const Result<RecoveredPool> folded = recover_from(log, pool, earlier, offset);
    if (!folded) return complain(folded.error());
    Digest found = digest_of((*kept)->bytes);
    bool same = folded->pool.digest() == found;
    if (!same) {
      // An older margin may have kept it, with other bytes for the same state.
      if (const Result<Pool> state = Pool::restore((*kept)->bytes); state.ok()) found = state->digest();
      same = folded->pool.digest() == found;
    }
    if (!same) {
      // It may have been kept for a compaction that did not follow.
      const Result<Pool> horizon = recover_horizon(log, pool, offset, report.position.next);
      same = horizon && horizon->digest() == found;
    }
    if (!same && report.position.first > 0) {
      // It holds what was taken back since, so that recovery passes over it; the state that it is compared with has been without that since
      // its events were compacted away.
      const Result<Pool> now = fold_from(log, pool, **kept, report.position.next, {});
      if (now && now->needs_fold()) continue;
    }
    if (same) {
      report.snapshots.push_back(offset);
    } else {
      report.findings.push_back("pool " + internal::printable(pool) + ": the snapshot at " + std::to_string(offset) +
                                " is not the fold of the events before it");
    }
  }
  const Result<RecoveredPool> recovered = recover_from(log, pool, *offsets, report.position.next);
  if (!recovered) return complain(recovered.error());
  report.digest = recovered->pool.digest();
  report.out_of_reach = recovered->pool.needs_fold();
  if (report.out_of_reach) report.findings.push_back(out_of_reach(pool));
}

}  // namespace

Result<RecoveredPool> recover(EventLog& log, std::string_view pool, std::uint64_t until, const Pause& pause) {
  const Result<PoolPosition> position = position_of(log, pool);
  if (!position) return position.error();
  until = std::min(until, position->next);
  const Result<std::vector<std::uint64_t>> offsets = starts(log, *position, until);
  if (!offsets) return offsets.error();
  return recover_from(log, pool, *offsets, until, pause);
}

Result<std::uint64_t> earliest_start(EventLog& log, std::string_view pool) {
  const Result<PoolPosition> position = position_of(log, pool);
  if (!position) return position.error();
  if (position->first == 0) return std::uint64_t{0};
  const Result<std::vector<std::uint64_t>> offsets = starts(log, *position, position->next);
  if (!offsets) return offsets.error();
  if (offsets->empty()) {
    return {ErrorCode::kCorrupt, "pool " + internal::printable(pool) + ": its first events are compacted away and it has no snapshot"};
  }
  return offsets->back();
}

Result<Pool> recover_horizon(EventLog& log, std::string_view pool, std::uint64_t at, std::uint64_t until, const Pause& pause) {
  const Result<PoolPosition> position = position_of(log, pool);
  if (!position) return position.error();
  until = std::min(until, position->next);
  const Result<std::uint64_t> earliest = earliest_start(log, pool);
  if (!earliest) return earliest.error();
  std::vector<std::string> findings;
  const Result<std::optional<Start>> start = start_at(log, pool, *earliest, findings);
  if (!start) return start.error();
  if (!*start) return {ErrorCode::kCorrupt, findings.empty() ? "the earliest snapshot is missing" : findings.front()};
  if (at < *earliest || at > until) {
    return {ErrorCode::kConflict, "pool " + internal::printable(pool) + ": no state at " + std::to_string(at) +
                                      " can be made, expected an offset from " + std::to_string(*earliest) + " to " +
                                      std::to_string(until)};
  }
  std::string bytes;
  const Result<Pool> folded =
      fold([&] { return (*start)->pool(); },
           [&](const std::function<void(const Event&)>& visit) { return each_event(log, pool, *earliest, until, visit, pause); },
           [&](std::size_t events, const Pool& state) {
             if (*earliest + events == at) bytes = state.snapshot();
           });
  if (!folded) return folded.error();
  if (folded->needs_fold()) return {ErrorCode::kUnsupported, out_of_reach(pool)};
  return Pool::restore(at == until ? folded->snapshot() : bytes);
}

bool Verification::sound() const {
  return std::all_of(pools.begin(), pools.end(), [](const VerifiedPool& pool) { return pool.findings.empty(); });
}

Result<Verification> verify(EventLog& log) {
  Result<std::vector<PoolPosition>> positions = log.pools();
  if (!positions) return positions.error();
  Verification verification;
  for (PoolPosition& position : *positions) {
    verification.pools.push_back({.position = std::move(position)});
    verify_pool(log, verification.pools.back());
  }
  return verification;
}

}  // namespace margin
