// EventLog: the ordered events of every pool, durable before they are acknowledged. The log is the truth; a pool is its fold
// (log/recovery.h). The server writes and reads it, `margin state` looks after it. docs/event_log.md has the formats and the rules.
//
// One total order per pool: offsets count from 0 without gaps. Between pools there is no order.
//
//   log.on_commit([&] { wake_up(loop); });
//   Status taken = log.append({.pool = "default", .event = event}, [&](Result<std::uint64_t> offset) { done.push(std::move(offset)); });
//
// Threads: every function may be called from any thread. Acknowledgements and the commit listener run on the log's own thread or inside
// uncork() and flush(); they must be short and may call nothing here but append() and figures(). Those two, cork() and uncork() never wait
// for the disk, the others may.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/digest.h"
#include "margin/event.h"
#include "margin/result.h"
#include "margin/uuid.h"

namespace margin {

// The request an event came with, so that the same request is recognised after a restart too.
struct RequestMark {
  Digest key;   // of who asks and their Idempotency-Key
  Digest body;  // of the request

  bool operator==(const RequestMark&) const = default;
};

struct Entry {
  std::string pool;  // 1 to kPoolNameBytesMax bytes
  Event event;
  std::optional<RequestMark> mark{};
  std::string note{};  // for the audit, opaque, at most kNoteBytesMax bytes
};

struct Record {
  std::uint64_t offset = 0;
  Event event;
  std::optional<RequestMark> mark{};
  std::string note{};

  bool operator==(const Record&) const = default;
};

inline constexpr std::size_t kPoolNameBytesMax = 256;
inline constexpr std::size_t kNoteBytesMax = 1024;
inline constexpr std::size_t kRecordBytesMax = std::size_t{64} << 20;

struct PoolPosition {
  std::string pool;
  std::uint64_t first = 0;  // the first retained offset
  std::uint64_t next = 0;   // the offset that the next append gets

  bool operator==(const PoolPosition&) const = default;
};

// The state of a pool when all events before `offset` are folded.
struct StoredSnapshot {
  std::uint64_t offset = 0;
  std::string bytes;  // Pool::snapshot()
  Digest digest;      // of the bytes, as computed when the state was live
};

// One on its way into the log: hundreds of megabytes need not be put together for that.
struct SnapshotToKeep {
  std::uint64_t offset = 0;
  std::vector<std::string> pieces;  // of the bytes, in order
  std::optional<Digest> digest{};   // of them all, to be held against them; the log works it out in any case
};

// What compaction leaves of the events it takes out of the log, for find().
enum class AuditKept {
  kNothing,
  kWithoutAnswers,  // all but the texts of answers
  kEverything,
};

// A decision whose texts are to go.
struct ErasureWanted {
  Uuid decision;
  std::string pool{};  // empty: whichever has it
  std::string note{};  // joins the note of each record that is changed, for the audit
};

// What became of it.
struct Erasure {
  bool found = false;         // something of the decision is in the log
  std::uint64_t records = 0;  // that had texts and have none now
  // Feedback that came before its decision, whose right answer is still needed to fold the log; gone when it is compacted and erased again.
  std::vector<Uuid> needed;
};

// How much may wait for a commit.
struct QueueLimits {
  std::size_t records_max = 65'536;                 // appends that wait; one more is refused
  std::size_t bytes_max = std::size_t{256} << 20;   // of their encoded records
  std::chrono::milliseconds probe_interval{1'000};  // after a failed commit, how often to see whether the store works again
};

// For /metrics. Counts are since the log was opened.
struct LogFigures {
  std::uint64_t appended = 0;           // acknowledged with success
  std::uint64_t failed = 0;             // acknowledged with an error
  std::uint64_t commits = 0;            // batches that succeeded
  std::uint64_t stored_bytes = 0;       // on the disk, or in memory
  std::size_t waiting = 0;              // appends not acknowledged yet
  std::size_t waiting_bytes = 0;        //
  std::chrono::nanoseconds oldest{0};   // how long the oldest of them has waited
  std::uint64_t journal_bytes = 0;      // written, and not yet carried into the store's file
  std::chrono::nanoseconds held_up{0};  // commits have waited so long for the journal to be carried over
};

// Called now and then by long work, for whoever does it beside others that must not wait.
using Pause = std::function<void()>;

class EventLog {
 public:
  using Acknowledge = std::function<void(Result<std::uint64_t> offset)>;

  virtual ~EventLog() = default;

  // Takes the entry; never waits for the disk. Its acknowledgement comes after the commit that holds it, with its offset. Entries of one
  // pool get offsets and acknowledgements in the order of the calls.
  // An acknowledgement with an error (kUnavailable: may work later): the entry is not in the log, or it is and nobody could be told (the
  // store broke between writing and saying so). Append it again under the same id: a fold applies an event once.
  // Refused at once, without an acknowledgement: kLimit (the queue is full: overload; or the entry is too big), kInvalidArgument (the
  // pool's name), kUnavailable (closed).
  [[nodiscard]] virtual Status append(const Entry& entry, Acknowledge acknowledge) = 0;

  // Several entries at once: all of them are taken or none, in one commit where the log has commits. Refused as by append(); a group is
  // never too large for an empty queue.
  struct Grouped {
    const Entry* entry = nullptr;
    Acknowledge acknowledge;
  };
  [[nodiscard]] virtual Status append_together(std::span<Grouped> group) = 0;

  // For whoever appends several entries in a row: appends after cork() need not begin a commit, so that those up to uncork() can share one,
  // which uncork() may make itself. Nothing waits longer than until flush() or close().
  virtual void cork() {}
  virtual void uncork() {}

  // Called after the acknowledgements of each commit, once for all of them. Set before the first append; when it is replaced, no call of
  // the one before is under way any more (so not from within such a call).
  virtual void on_commit(std::function<void()> listener) = 0;

  // Records of the pool in order, beginning at `from`: at most `records_max`, and fewer when they are large; none at the end of the log
  // and for an unknown pool. kNotFound: `from` is before the first retained offset; kCorrupt names the damaged offset;
  // kUnsupported: a record needs a newer margin.
  [[nodiscard]] virtual Result<std::vector<Record>> read(std::string_view pool, std::uint64_t from, std::size_t records_max) = 0;

  // The record of the event with this id, compacted ones included if the audit keeps them. Errors as for read.
  [[nodiscard]] virtual Result<std::optional<Record>> find(std::string_view pool, const Uuid& id) = 0;

  // By name. A pool exists from its first append.
  [[nodiscard]] virtual Result<std::vector<PoolPosition>> pools() = 0;

  // Keeps a snapshot, and the few most recent beside it, to which a revert goes back; where events are compacted away also the earliest,
  // which is as far as one can.
  // kConflict: its offset is beyond the end of the log, or before the first retained; kInvalidArgument: the digest is not that of the
  // bytes; kUnavailable as for append.
  // `pause` is called between its parts: after some work of this thread, and after each part, for which other work on the log had to wait.
  [[nodiscard]] virtual Status keep_snapshot(std::string_view pool, SnapshotToKeep snapshot, const Pause& pause) = 0;
  [[nodiscard]] Status keep_snapshot(std::string_view pool, const StoredSnapshot& snapshot) {
    return keep_snapshot(pool, {snapshot.offset, {snapshot.bytes}, snapshot.digest}, {});
  }

  // The latest whose offset is at most `at_or_before`; none if there is none. kCorrupt: its bytes are damaged, or its offset is beyond the
  // end of the log (an old log under a newer state).
  [[nodiscard]] virtual Result<std::optional<StoredSnapshot>> latest_snapshot(
      std::string_view pool, std::uint64_t at_or_before = std::numeric_limits<std::uint64_t>::max()) = 0;

  // The offsets of the snapshots that are kept, in order.
  [[nodiscard]] virtual Result<std::vector<std::uint64_t>> snapshots(std::string_view pool) = 0;

  // Takes the events before `before` out of the log, and the snapshots that need them. kConflict: the pool has no snapshot at or after
  // `before`, so its state could not be recovered; kUnavailable as for append (what was already taken out stays out).
  [[nodiscard]] virtual Status compact(std::string_view pool, std::uint64_t before, AuditKept kept) = 0;

  // Takes the texts of decisions (the task's name, the answers) out of the log and of all it is kept in; what states rest on stays. An
  // erasure for each, in their order. It takes as long as reading the pools' events and writing the store anew; appends may wait meanwhile.
  // kUnavailable: as for append, or another program reads the store and copies of the texts stay until they are erased again; kCorrupt,
  // kUnsupported: a record that cannot be read, and nothing has changed.
  [[nodiscard]] virtual Result<std::vector<Erasure>> erase(std::span<const ErasureWanted> wanted) = 0;

  // Ok while commits succeed; else why the last one failed. Recovers by itself when the cause is gone.
  [[nodiscard]] virtual Status writable() = 0;

  [[nodiscard]] virtual LogFigures figures() const = 0;

  // Returns when everything appended before the call has been acknowledged.
  virtual void flush() = 0;

  // Refuses further appends, flushes, and lets go of the store. Destruction closes.
  virtual void close() = 0;
};

}  // namespace margin
