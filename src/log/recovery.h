// Recovery: from a log to the state of its pools, and the proof that they agree. The server starts with it, `margin state verify` runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "log/event_log.h"
#include "margin/digest.h"
#include "margin/pool.h"
#include "margin/result.h"

namespace margin {

struct RecoveredPool {
  Pool pool;
  std::uint64_t next = 0;             // all events before it are folded
  std::uint64_t from = 0;             // the snapshot it started from; 0: none
  std::vector<std::string> findings;  // what an operator should hear: a snapshot that had to be passed over, a revert out of reach
};

// The state of a pool after all events before `until`: the latest snapshot that serves, and the tail folded on it. An unknown pool is an
// empty one. A snapshot that is damaged, or that holds an outcome which the tail takes back, is passed over for an earlier one.
// kCorrupt: a damaged or missing event, named; a snapshot beyond the end of the log (an old log under a newer state); no snapshot that
// serves, and the first events compacted away. kUnsupported, kNotFound: an event, a method or a version that needs a newer margin.
[[nodiscard]] Result<RecoveredPool> recover(EventLog& log, std::string_view pool,
                                            std::uint64_t until = std::numeric_limits<std::uint64_t>::max(), const Pause& pause = {});

// The earliest offset that a fold of the pool can start from: 0 while its first events are retained, else that of its earliest snapshot.
// What a state there holds can no longer be taken back. kCorrupt: there is none.
[[nodiscard]] Result<std::uint64_t> earliest_start(EventLog& log, std::string_view pool);

// The state after all events before `at`, without what those before `until` take back: what folds may start from when the events before
// `at` have been compacted away. It is made from the earliest start, over all events before `until`. Errors of recover; kUnsupported: the
// pool has a revert out of reach.
[[nodiscard]] Result<Pool> recover_horizon(EventLog& log, std::string_view pool, std::uint64_t at,
                                           std::uint64_t until = std::numeric_limits<std::uint64_t>::max(), const Pause& pause = {});

struct VerifiedPool {
  PoolPosition position;
  std::uint64_t events = 0;              // read and held against their checksums
  std::vector<std::uint64_t> snapshots;  // held against the fold of the events before them
  Digest digest;                         // of the recovered state
  std::vector<std::string> findings;     // empty: sound
  bool out_of_reach = false;             // one of them is a revert out of reach, which is no damage

  // Nothing is damaged or missing.
  [[nodiscard]] bool whole() const { return findings.size() == (out_of_reach ? 1U : 0U); }
};

struct Verification {
  std::vector<VerifiedPool> pools;

  [[nodiscard]] bool sound() const;
};

// Reads every retained event, folds them from the beginning (or the earliest snapshot), and compares the state with each snapshot on the
// way and with what recover() gives. Findings are named; an error is returned only when the log cannot be asked at all.
[[nodiscard]] Result<Verification> verify(EventLog& log);

}  // namespace margin
