// SqliteWriter: the writing side of a store: commits of waiting events, snapshots, compaction. One thread at a time uses it.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "log/checkpointer.h"
#include "log/commit_queue.h"
#include "log/descriptor.h"
#include "log/event_log.h"
#include "log/high_water.h"
#include "log/sqlite.h"
#include "log/stored_row.h"
#include "margin/result.h"

namespace margin::internal {

// After an error nothing of the call is in the store, and the next call may succeed.
class SqliteWriter {
 public:
  struct Options {
    bool sync = true;  // events count as acknowledged after sync(), not after their commit
    std::chrono::milliseconds busy_wait{1'000};
    std::size_t snapshots_kept = 4;
    std::int64_t pages_max = 0;  // 0: no bound
    int (*put_on_disk)(int file) = fdatasync;
  };

  // Opens the store, made if it is not there. Every failure names the file.
  // kCorrupt: not a store, or events that were acknowledged are gone; kUnsupported: of a newer margin; kUnavailable, kNotFound.
  [[nodiscard]] Status open(const std::string& path, const Options& options);
  // Puts the journal into the store.
  void close();

  // What open() found that an operator should hear; empty: nothing.
  [[nodiscard]] const std::string& warning() const { return warning_; }

  // Any thread: how much of the journal is not in the file yet, and how long commits have waited for that.
  [[nodiscard]] std::uint64_t journal_bytes() const { return static_cast<std::uint64_t>(journal_pages_ * page_bytes_); }
  [[nodiscard]] std::chrono::nanoseconds held_up() const { return std::chrono::nanoseconds(held_up_ns_.load()); }

  [[nodiscard]] Status commit(std::span<Waiting> batch);
  // The same where it need wait neither for the disk nor for another program. False: it would have to, or did not succeed; nothing of it is
  // in the store.
  [[nodiscard]] bool commit_at_once(std::span<Waiting> batch);
  // Puts what was committed on the disk: so many events since the last time. Any thread while no call fails; after a failure only where
  // nobody else uses the writer.
  [[nodiscard]] Status sync(std::size_t events);
  // Writes nothing of meaning, to see whether the store takes it.
  [[nodiscard]] Status probe();
  // As EventLog::erase says. Behind it the file is written anew and the journal emptied, so that no copy stays in either.
  [[nodiscard]] Result<std::vector<Erasure>> erase(std::span<const ErasureWanted> wanted);
  // Gives the room of what was removed back to the disk, by writing the file anew.
  [[nodiscard]] Status shrink();

  // A snapshot is written in parts, so that commits may come in between, and counts when it is finished.
  [[nodiscard]] Result<std::int64_t> begin_snapshot(std::string_view pool, const StoredSnapshot& snapshot);
  // Any thread. Before each part, so that a large snapshot does not fill the journal.
  void wait_for_room() { checkpointer_.wait_until_carried_over(); }
  [[nodiscard]] Status add_part(std::int64_t snapshot, std::int64_t part, std::string_view bytes);
  [[nodiscard]] Status finish_snapshot(std::int64_t snapshot);
  // Removes some parts of snapshots that are no longer kept; false when none is left.
  [[nodiscard]] Result<bool> drop_parts();

  // Compacts some events; false when all before `before` are out.
  [[nodiscard]] Result<bool> compact_some(std::string_view pool, std::uint64_t before, AuditKept kept);

 private:
  static constexpr std::int64_t kNoKey = std::numeric_limits<std::int64_t>::min();
  struct Partition {
    std::int64_t number = 0;
    std::uint64_t first = 0;
    std::uint64_t next = 0;
    std::uint64_t base = 0;
    std::uint64_t head = 0;
    std::int64_t key = kNoKey;  // of its last row
    // What the next row is to hold, and its key.
    RowContent gathered;
    std::int64_t gathered_key = kNoKey;
  };
  using Partitions = std::map<std::string, Partition, std::less<>>;

  Status prepare();
  Status open_database(const std::string& path, const Options& options);
  Status check_high_water(const std::string& path);
  Status open_journal(const std::string& path);
  Result<Partitions::iterator> partition(std::string_view pool);
  Status write(std::span<Waiting> batch);
  Status insert(std::span<Waiting> batch);
  // Adds it to what its pool has gathered.
  Status gather(Partition& where, Waiting& item);
  Status insert_gathered(Partition& where);
  Status update(const Partition& where);
  Status take_out(std::string_view pool, Partition& where, std::uint64_t end, AuditKept kept);
  Status keep_in_audit(std::string_view pool, std::int64_t row, std::string_view record, AuditKept kept);
  void acknowledge(std::size_t events);
  Status carry_all_over();
  // Carries all of it over and cuts it off. False: somebody reads it, for longer than the store's wait.
  bool empty_journal();
  // When it is too long, and as its length demands.
  void shorten_journal();
  // The latest complete snapshot's offset.
  Result<std::optional<std::uint64_t>> latest_snapshot(std::int64_t pool);
  // Runs `work` in a transaction; when it fails, forgets what is known of the store.
  Status in_transaction(const std::function<Status()>& work);

  Options options_;
  Database database_;
  Partitions partitions_;  // what the store says, read when first needed
  HighWater high_water_;
  Checkpointer checkpointer_;
  Descriptor journal_;            // for sync()
  bool journal_damaged_ = false;  // the disk did not take it
  std::atomic<int> journal_pages_ = 0;
  std::int64_t page_bytes_ = 0;
  std::atomic<std::int64_t> held_up_ns_ = 0;
  Acknowledged acknowledged_;
  std::string warning_;

  Statement select_pool_;
  Statement insert_pool_;
  Statement update_pool_;
  Statement insert_row_;
  Statement insert_stray_;
  Statement select_rows_;
  Statement update_row_;
  Statement delete_rows_;
  Statement delete_strays_;
  Statement insert_audit_;
  Statement latest_snapshot_;
  Statement insert_snapshot_;
  Statement insert_part_;
  Statement complete_snapshot_;
  Statement replace_snapshots_;
  Statement trim_snapshots_;
  Statement drop_old_snapshots_;
  Statement drop_parts_;
};

}  // namespace margin::internal
