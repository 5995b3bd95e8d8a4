// SqliteLog: the event log of a server in one SQLite file, and in two small ones beside it what was committed last (log/tail.h). The
// default store of `margin serve`.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

#include "log/commit_queue.h"
#include "log/event_log.h"
#include "log/lease.h"
#include "log/sqlite_reader.h"
#include "log/tailed_writer.h"

namespace margin {

// When an append is acknowledged.
enum class Durability {
  kDisk,     // it is on the disk: survives power failure
  kProcess,  // the operating system has it: survives kill -9, not power failure
};

struct SqliteLogOptions {
  Durability durability = Durability::kDisk;
  QueueLimits queue{};
  std::size_t snapshots_kept = 4;
  std::chrono::milliseconds busy_wait{1'000};  // for another program that holds the file locked
  std::int64_t pages_max = 0;                  // of the file; one more is a full disk. 0: no bound but the disk's
  int (*put_on_disk)(int file) = fdatasync;    // of the tail; another for tests: disks fail rarely
  int (*let_others_in)() = sched_yield;        // by who carries over; another for tests: whether others waited cannot be seen
};

class SqliteLog final : public EventLog {
 public:
  // Opens the store at `path`, made if it is not there, for this log alone.
  // kUnavailable: another server has it, or it is read-only; kCorrupt: damaged, or acknowledged events are gone; kUnsupported: written by
  // a newer margin; kNotFound: no such folder. Every message names the file.
  [[nodiscard]] static Result<std::unique_ptr<SqliteLog>> open(const std::string& path, const SqliteLogOptions& options = {});
  // Opens an existing store to look at, beside a server that may be writing it; what would change it is refused with kUnavailable.
  [[nodiscard]] static Result<std::unique_ptr<SqliteLog>> look(const std::string& path);
  // Whether nothing stands there yet: no file, an empty one, or one whose making was cut off.
  [[nodiscard]] static bool is_unmade(const std::string& path);
  ~SqliteLog() override { close(); }

  // What opening found that an operator should hear; empty: nothing.
  [[nodiscard]] const std::string& warning() const { return writer_.warning(); }
  // Copies the store, as it is at this moment, to the new file `target`. kConflict: it exists.
  [[nodiscard]] Status backup(const std::string& target);
  // Puts a copy of the store `backup` in the place of `target`, which no server may have. What stood there is lost, when the copy has been
  // read whole, as `margin state verify` does, and is on the disk in its place.
  // kUnavailable: a server has it; kCorrupt, kUnsupported: the backup is not whole; nothing has changed then.
  [[nodiscard]] static Status restore(const std::string& backup, const std::string& target);
  // Gives the room of compacted events back to the disk.
  [[nodiscard]] Status shrink();
  // Looks through the whole file below the level of events. kCorrupt with the first thing found.
  [[nodiscard]] Status check_file();
  // Puts all that is committed into the one file, as happens by itself within a moment. kUnavailable as for append.
  [[nodiscard]] Status settle();

  [[nodiscard]] Status append(const Entry& entry, Acknowledge acknowledge) override;
  [[nodiscard]] Status append_together(std::span<Grouped> group) override;
  void cork() override;
  void uncork() override;
  void on_commit(std::function<void()> listener) override;
  [[nodiscard]] Result<std::vector<Record>> read(std::string_view pool, std::uint64_t from, std::size_t records_max) override;
  [[nodiscard]] Result<std::optional<Record>> find(std::string_view pool, const Uuid& id) override;
  [[nodiscard]] Result<std::vector<PoolPosition>> pools() override;
  using EventLog::keep_snapshot;
  [[nodiscard]] Status keep_snapshot(std::string_view pool, SnapshotToKeep snapshot, const Pause& pause) override;
  [[nodiscard]] Result<std::optional<StoredSnapshot>> latest_snapshot(
      std::string_view pool, std::uint64_t at_or_before = std::numeric_limits<std::uint64_t>::max()) override;
  [[nodiscard]] Result<std::vector<std::uint64_t>> snapshots(std::string_view pool) override;
  [[nodiscard]] Status compact(std::string_view pool, std::uint64_t before, AuditKept kept) override;
  [[nodiscard]] Result<std::vector<Erasure>> erase(std::span<const ErasureWanted> wanted) override;
  [[nodiscard]] Status writable() override;
  [[nodiscard]] LogFigures figures() const override;
  void flush() override;
  void close() override;

 private:
  explicit SqliteLog(std::string path) : path_(std::move(path)) {}

  // `put_in_place` gets the copy, which goes when it fails.
  Status copy_to(const std::string& target, const std::function<Status(const std::string& copy)>& put_in_place);
  // What is left to do of a snapshot that was begun.
  Status write_snapshot(std::int64_t number, SnapshotToKeep snapshot, const Pause& pause);
  // Repeats a step with the file, letting others use it in between, until it returns false.
  Status repeat(const std::function<Result<bool>(internal::SqliteWriter&)>& step);
  // To be asked for before the file is read: it may hold what is in the file by then, and nothing is in neither.
  Result<internal::TailContent> tail();

  const std::string path_;
  internal::Lease lease_;
  internal::SqliteReader reader_;
  internal::TailedWriter writer_;
  std::unique_ptr<internal::CommitQueue> queue_;  // none: opened to look
};

}  // namespace margin
