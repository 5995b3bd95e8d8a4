// SqliteWriter: the writing side of a store's SQLite file: events, snapshots, compaction. One thread at a time uses it; TailedWriter sees
// to that, and commits before events come here.
#pragma once

#include <sys/stat.h>
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
#include <vector>

#include "log/descriptor.h"
#include "log/event_log.h"
#include "log/paced_file.h"
#include "log/sqlite.h"
#include "log/store_format.h"
#include "log/stored_row.h"
#include "log/tail.h"
#include "margin/result.h"

namespace margin::internal {

// Puts the names of the files beside a store on the disk. kUnavailable: the disk does not take them.
[[nodiscard]] Status put_names_on_disk(const std::string& store);

// After an error nothing of the call is in the store, and the next call may succeed.
class SqliteWriter {
 public:
  struct Options {
    std::chrono::milliseconds busy_wait{1'000};
    std::size_t snapshots_kept = 4;
    std::int64_t pages_max = 0;  // 0: no bound
    // Called after some tens of microseconds of work at the most, for whoever waits on the same processor.
    std::function<void()> breathe = [] {};
  };

  // Opens the store, made if it is not there. kCorrupt: not a store; kUnsupported: of a newer margin; kUnavailable, kNotFound.
  [[nodiscard]] Status open(const std::string& path, const Options& options);
  // The same in two steps. After the first nothing has changed, neither in the store nor in its journal, which may be evidence and stays
  // also when the store is let go of: contents() and ends() may be asked, and begin() is called or nothing else.
  [[nodiscard]] Status open_unchanged(const std::string& path, const Options& options);
  [[nodiscard]] Status begin();
  // Puts the journal into the store.
  void close();

  // kUnavailable: the file that is open no longer stands where it was.
  [[nodiscard]] Status check_in_place() const;

  // What is in the store.
  [[nodiscard]] Result<Contents> contents() { return empty_ ? Result<Contents>(Contents{}) : contents_of(database_); }
  // The end of each pool.
  [[nodiscard]] Result<std::map<std::string, std::uint64_t, std::less<>>> ends();

  // Any thread: how much of the journal is not in the file yet.
  [[nodiscard]] std::uint64_t journal_bytes() const { return static_cast<std::uint64_t>(journal_pages_ * page_bytes_); }
  // Any thread: whether shorten_journal() would carry it over.
  [[nodiscard]] bool journal_is_long() const;

  // Takes events in, each in its place; those that are there already are passed over. kCorrupt: events before one are not there.
  [[nodiscard]] Status add(std::span<const TailRecord> records);
  // Puts what was written before on the disk.
  [[nodiscard]] Status put_on_disk();
  // Carries the journal into the file when it is long, as far as readers let it. A failure (a full disk) leaves it as it was.
  void shorten_journal();
  // All of it, and cuts it off. kUnavailable: somebody reads it, for longer than the store's wait; or the disk fails.
  [[nodiscard]] Status empty_journal();
  // Writes nothing of meaning, to see whether the store takes it.
  [[nodiscard]] Status probe();
  // As EventLog::erase says. Behind it the file is written anew and the journal emptied, so that no copy stays in either.
  [[nodiscard]] Result<std::vector<Erasure>> erase(std::span<const ErasureWanted> wanted);
  // Gives the room of what was removed back to the disk, by writing the file anew.
  [[nodiscard]] Status shrink();

  // A snapshot is written in parts, so that others may come in between, and counts when it is finished.
  [[nodiscard]] Result<std::int64_t> begin_snapshot(std::string_view pool, std::uint64_t offset, const Digest& digest);
  [[nodiscard]] Status add_part(std::int64_t snapshot, std::int64_t part, std::string_view bytes);
  [[nodiscard]] Status finish_snapshot(std::int64_t snapshot);
  // It will not be finished.
  void abandon_snapshot(std::int64_t snapshot) { abandoned_.push_back(snapshot); }
  // Removes some parts of snapshots that are no longer kept or were abandoned; false when none is left.
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
  Status begin_database();
  Status open_journal();
  Result<Partitions::iterator> partition(std::string_view pool);
  Status insert(std::span<const TailRecord> records);
  void hand_journal_to_disk();
  // Adds it to what its pool has gathered.
  Status gather(Partition& where, const TailRecord& record);
  Status insert_gathered(Partition& where);
  Status update(const Partition& where);
  Status take_out(std::string_view pool, Partition& where, std::uint64_t end, AuditKept kept);
  Status keep_in_audit(std::string_view pool, std::int64_t row, std::string_view record, AuditKept kept);
  // The latest complete snapshot's offset.
  Result<std::optional<std::uint64_t>> latest_snapshot(std::int64_t pool);
  // Runs `work` in a transaction; when it fails, forgets what is known of the store.
  Status in_transaction(const std::function<Status()>& work);

  std::string path_;
  struct stat file_ {};  // which it is
  Options options_;
  bool empty_ = true;  // no store yet
  // Before the connection, which uses them.
  PacedFile paced_file_;
  PacedFile paced_journal_;
  Database database_;
  std::vector<std::int64_t> abandoned_;  // snapshots
  Partitions partitions_;                // what the store says, read when first needed
  Descriptor journal_;                   // for put_on_disk()
  bool journal_damaged_ = false;         // the disk did not take it
  std::atomic<int> journal_pages_ = 0;
  std::atomic<int> tried_pages_ = 0;  // its length when it was last carried over and yet did not begin anew: somebody reads it
  int handed_pages_ = 0;              // of it, to the disk
  std::int64_t page_bytes_ = 0;

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
  Statement drop_parts_of_;
  Statement drop_snapshot_;
};

}  // namespace margin::internal
