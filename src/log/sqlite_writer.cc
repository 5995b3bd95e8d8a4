#include "log/sqlite_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/text.h"
#include "log/codec.h"
#include "log/erasure.h"
#include "log/limits.h"
#include "log/store_format.h"

namespace margin::internal {
namespace {

// Compaction yields to commits after this many events.
constexpr std::uint64_t kCompactedAtOnce = 1'000;
// As does the removal of snapshots, after this many parts.
constexpr std::int64_t kPartsAtOnce = 4;
// A journal of so many bytes is worth carrying over.
constexpr std::int64_t kJournalBytesLong = std::int64_t{8} << 20;

// So much of it is handed to the disk at a time.
constexpr std::int64_t kHandedAtOnce = std::int64_t{128} << 10;

int note_journal_pages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<std::atomic<int>*>(pages) = count;
  return SQLITE_OK;
}

}  // namespace

Status put_names_on_disk(const std::string& store) {
  const std::string folder = std::filesystem::absolute(store).parent_path();
  const Descriptor names(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (names.open() && fsync(names.get()) == 0) return {};
  return {ErrorCode::kUnavailable, std::string("the names of its files cannot be put on the disk: ") + std::strerror(errno)};
}

Status SqliteWriter::open(const std::string& path, const Options& options) {
  Status status = open_unchanged(path, options);
  return status.ok() ? begin() : std::move(status);
}

Status SqliteWriter::open_unchanged(const std::string& path, const Options& options) {
  path_ = path;
  options_ = options;
  Result<Database> database = Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  if (!database) return {ErrorCode::kUnavailable, database.error().message};
  database_ = std::move(database).value();
  sqlite3_db_config(database_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (sqlite3_db_readonly(database_.handle(), "main") == 1) return {ErrorCode::kUnavailable, "the store is read-only"};
  sqlite3_busy_timeout(database_.handle(), static_cast<int>(options.busy_wait.count()));
  const Result<bool> empty = check_format(database_);
  if (!empty) return empty.error();
  empty_ = *empty;
  if (stat(path.c_str(), &file_) != 0) return {ErrorCode::kUnavailable, std::string("cannot be found: ") + std::strerror(errno)};
  return {};
}

Status SqliteWriter::check_in_place() const {
  struct stat now {};
  if (stat(path_.c_str(), &now) == 0 && now.st_dev == file_.st_dev && now.st_ino == file_.st_ino) return {};
  return {ErrorCode::kUnavailable, "the store's file was removed or moved, or another stands in its place: " + path_};
}

Status SqliteWriter::begin() {
  sqlite3_db_config(database_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  Status status = begin_database();
  if (status.ok()) status = prepare();
  if (status.ok()) status = open_journal();
  // A snapshot that was being written when the process ended; finish_snapshot never came.
  if (status.ok()) status = database_.execute("DELETE FROM snapshots WHERE complete = 0");
  return status;
}

Status SqliteWriter::begin_database() {
  // Transactions do not wait for the disk; put_on_disk() does. The size of pages is that of a new store: rows are large, and written once.
  std::string settings = "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL";
  if (options_.pages_max > 0) settings += "; PRAGMA max_page_count = " + std::to_string(options_.pages_max);
  if (Status status = database_.execute(settings.c_str()); !status) return status;
  const Result<std::int64_t> page_bytes = database_.integer("PRAGMA page_size");
  if (!page_bytes) return page_bytes.error();
  page_bytes_ = *page_bytes;
  sqlite3_wal_hook(database_.handle(), note_journal_pages, &journal_pages_);
  paced_file_.pace(database_.handle(), PacedFile::Which::kFile, options_.breathe);
  if (!empty_) return upgrade(database_);
  if (Status status = make_tables(database_); !status) return status;
  empty_ = false;
  // The tables at least do not depend on the journal.
  return database_.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

// By now SQLite has made it.
Status SqliteWriter::open_journal() {
  paced_journal_.pace(database_.handle(), PacedFile::Which::kJournal, options_.breathe);
  journal_ = Descriptor(::open((path_ + "-wal").c_str(), O_RDWR | O_CLOEXEC));
  if (journal_.open()) return {};
  return {ErrorCode::kUnavailable, std::string("its journal cannot be opened: ") + std::strerror(errno)};
}

Status SqliteWriter::prepare() {
  struct Wanted {
    Statement& statement;
    std::string sql;
  };
  for (const auto& [statement, sql] : {
           Wanted{select_pool_, std::string("SELECT pool, first, next, base, head, key FROM (") + kPartitions + ") WHERE name = ?1"},
           Wanted{insert_pool_, "INSERT INTO pools (name, first, next, base, head) VALUES (?1, 0, 0, ?2, ?2) RETURNING pool"},
           Wanted{update_pool_, "UPDATE pools SET first = ?2, next = ?3, base = ?4, head = ?5 WHERE pool = ?1"},
           Wanted{insert_row_, "INSERT INTO events (row, key, chain, record) VALUES (?1, ?2, ?3, ?4)"},
           Wanted{insert_stray_, "INSERT INTO strays (key, row) VALUES (?1, ?2)"},
           Wanted{select_rows_, "SELECT row, chain, record FROM events WHERE row >= ?1 AND row < ?2 ORDER BY row"},
           Wanted{update_row_, "UPDATE events SET record = ?2 WHERE row = ?1"},
           Wanted{delete_rows_, "DELETE FROM events WHERE row >= ?1 AND row < ?2"},
           Wanted{delete_strays_, "DELETE FROM strays WHERE row >= ?1 AND row < ?2"},
           Wanted{insert_audit_, "INSERT INTO audit (row, key, checksum, record) VALUES (?1, ?2, ?3, ?4)"},
           Wanted{latest_snapshot_, "SELECT max(offset) FROM snapshots WHERE pool = ?1 AND complete = 1"},
           Wanted{insert_snapshot_,
                  "INSERT INTO snapshots (pool, offset, digest_high, digest_low, complete) VALUES (?1, ?2, ?3, ?4, 0) RETURNING snapshot"},
           Wanted{insert_part_, "INSERT INTO snapshot_parts (snapshot, part, bytes) VALUES (?1, ?2, ?3)"},
           Wanted{complete_snapshot_, "UPDATE snapshots SET complete = 1 WHERE snapshot = ?1"},
           Wanted{replace_snapshots_,
                  "DELETE FROM snapshots AS old WHERE old.snapshot <> ?1 AND EXISTS (SELECT 1 FROM snapshots AS new "
                  "WHERE new.snapshot = ?1 AND new.pool = old.pool AND new.offset = old.offset)"},
           // Neither this one nor, where events are compacted away, the earliest: no fold could reach what came between them.
           Wanted{trim_snapshots_,
                  "WITH own AS (SELECT snapshot, offset, snapshot = ?1 OR (offset = (SELECT min(offset) FROM snapshots AS any WHERE "
                  "any.pool = pools.pool AND any.complete = 1) AND first > 0) AS stays FROM snapshots JOIN pools USING (pool) "
                  "WHERE complete = 1 AND pool = (SELECT pool FROM snapshots WHERE snapshot = ?1)) "
                  "DELETE FROM snapshots WHERE snapshot IN (SELECT snapshot FROM own ORDER BY stays DESC, offset DESC LIMIT -1 OFFSET ?2) "
                  "AND snapshot NOT IN (SELECT snapshot FROM own WHERE stays)"},
           Wanted{drop_old_snapshots_, "DELETE FROM snapshots WHERE pool = ?1 AND offset < ?2"},
           Wanted{drop_parts_,
                  "DELETE FROM snapshot_parts WHERE rowid IN (SELECT rowid FROM snapshot_parts WHERE snapshot NOT IN "
                  "(SELECT snapshot FROM snapshots) LIMIT ?1)"},
           Wanted{drop_parts_of_,
                  "DELETE FROM snapshot_parts WHERE rowid IN (SELECT rowid FROM snapshot_parts WHERE snapshot = "
                  "(SELECT snapshot FROM snapshots WHERE snapshot = ?1 AND complete = 0) LIMIT ?2)"},
           Wanted{drop_snapshot_, "DELETE FROM snapshots WHERE snapshot = ?1 AND complete = 0"},
       }) {
    if (Status status = database_.prepare(statement, sql.c_str()); !status) return status;
  }
  return {};
}

Result<std::map<std::string, std::uint64_t, std::less<>>> SqliteWriter::ends() {
  std::map<std::string, std::uint64_t, std::less<>> ends;
  if (empty_) return ends;
  Statement statement;
  if (Status status = database_.prepare(statement, (std::string("SELECT name, next FROM (") + kPartitions + ")").c_str()); !status) {
    return status.error();
  }
  Execution row = statement();
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return ends;
    ends.emplace(row.bytes(0), row.bits(1));
  }
}

void SqliteWriter::close() {
  // The ends of the pools, so that one that was cut off afterwards is found. Where it fails, what was appended tells them.
  if (database_.handle() != nullptr) {
    static_cast<void>(in_transaction([this]() -> Status {
      for (const auto& [name, where] : partitions_) {
        if (Status status = update(where); !status) return status;
      }
      return {};
    }));
  }
  for (Statement* statement : {&select_pool_,     &insert_pool_,        &update_pool_, &insert_row_,        &insert_stray_,
                               &select_rows_,     &update_row_,         &delete_rows_, &delete_strays_,     &insert_audit_,
                               &latest_snapshot_, &insert_snapshot_,    &insert_part_, &complete_snapshot_, &replace_snapshots_,
                               &trim_snapshots_,  &drop_old_snapshots_, &drop_parts_,  &drop_parts_of_,     &drop_snapshot_}) {
    *statement = Statement();
  }
  journal_ = Descriptor();
  database_ = Database();
}

Status SqliteWriter::in_transaction(const std::function<Status()>& work) {
  Transaction transaction(database_);
  Status status = transaction.begin();
  if (status.ok()) status = work();
  if (status.ok()) status = transaction.commit();
  if (!status) partitions_.clear();
  return status;
}

Result<SqliteWriter::Partitions::iterator> SqliteWriter::partition(std::string_view pool) {
  if (const auto known = partitions_.find(pool); known != partitions_.end()) return known;
  {
    Execution row = select_pool_(pool);
    const Result<bool> found = row.next();
    if (!found) return found.error();
    if (*found) {
      return partitions_
          .emplace(pool,
                   Partition{row.integer(0), row.bits(1), row.bits(2), row.bits(3), row.bits(4), row.null(5) ? kNoKey : row.integer(5)})
          .first;
    }
  }
  Execution row = insert_pool_(pool, chain_start(pool));
  const Result<bool> made = row.next();
  if (!made) return made.error();
  if (row.integer(0) > kPoolsMax) return {ErrorCode::kLimit, "the store has had " + std::to_string(kPoolsMax) + " pools, its limit"};
  return partitions_.emplace(pool, Partition{.number = row.integer(0), .base = chain_start(pool), .head = chain_start(pool)}).first;
}

Status SqliteWriter::add(std::span<const TailRecord> records) {
  Status status = in_transaction([&] { return insert(records); });
  hand_journal_to_disk();
  return status;
}

// A checkpoint first puts the journal on the disk, which takes the processor for a millisecond where nothing of it is there.
void SqliteWriter::hand_journal_to_disk() {
  constexpr std::int64_t kFrameHeadBytes = 24;
  const int pages = journal_pages_;
  if (pages < handed_pages_) handed_pages_ = 0;  // it began anew
  const std::int64_t bytes = (pages - handed_pages_) * (page_bytes_ + kFrameHeadBytes);
  if (bytes < kHandedAtOnce) return;
  sync_file_range(journal_.get(), handed_pages_ * (page_bytes_ + kFrameHeadBytes), bytes, SYNC_FILE_RANGE_WRITE);
  handed_pages_ = pages;
}

Status SqliteWriter::insert(std::span<const TailRecord> records) {
  std::vector<Partition*> gathering;
  for (const TailRecord& record : records) {
    const Result<Partitions::iterator> found = partition(record.pool);
    if (!found) return found.error();
    Partition& where = (*found)->second;
    if (record.offset < where.next) continue;
    if (record.offset > where.next) {
      return {ErrorCode::kCorrupt, "event " + std::to_string(where.next) + " of pool " + printable(record.pool) +
                                       " is missing before event " + std::to_string(record.offset)};
    }
    if (!where.gathered.takes(record.bytes)) {
      if (Status status = insert_gathered(where); !status) return status;
    } else if (where.gathered.empty()) {
      gathering.push_back(&where);
    }
    if (Status status = gather(where, record); !status) return status;
  }
  for (Partition* where : gathering) {
    if (Status status = insert_gathered(*where); !status) return status;
  }
  return {};
}

Status SqliteWriter::gather(Partition& where, const TailRecord& record) {
  ++where.next;
  where.head = chain_next(where.head, record.bytes);
  where.gathered.add(where.head, record.bytes);
  const std::int64_t key = key_of(record.id);
  if (key <= where.key || !is_of_its_time(record.id, record.time_ms)) {
    return insert_stray_(key, row_of(where.number, record.offset)).finish();
  }
  where.gathered_key = std::max(where.gathered_key, key);
  return {};
}

Status SqliteWriter::insert_gathered(Partition& where) {
  where.key = std::max(where.key, where.gathered_key);
  options_.breathe();
  Status status = insert_row_(row_of(where.number, where.next - 1), where.key, where.head, where.gathered.bytes()).finish();
  where.gathered.clear();
  options_.breathe();
  return status;
}

Status SqliteWriter::update(const Partition& where) {
  return update_pool_(where.number, where.first, where.next, where.base, where.head).finish();
}

// A journal that could not be put on the disk may be torn there for good although a later attempt succeeds. What is in it is carried over,
// and it begins anew.
Status SqliteWriter::put_on_disk() {
  if (journal_damaged_) {
    Status status = empty_journal();
    journal_damaged_ = !status.ok();
    return status;
  }
  if (fdatasync(journal_.get()) == 0) return {};
  journal_damaged_ = true;
  return {ErrorCode::kUnavailable, std::string("the disk does not take the journal: ") + std::strerror(errno)};
}

bool SqliteWriter::journal_is_long() const {
  const int pages = journal_pages_;
  const int tried = tried_pages_;
  return (pages < tried ? pages : pages - tried) * page_bytes_ >= kJournalBytesLong;  // fewer than were tried: it began anew
}

void SqliteWriter::shorten_journal() {
  if (journal_pages_ < tried_pages_) tried_pages_ = 0;
  if (!journal_is_long()) return;
  tried_pages_ = journal_pages_.load();
  sqlite3_wal_checkpoint_v2(database_.handle(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

Status SqliteWriter::empty_journal() {
  if (sqlite3_wal_checkpoint_v2(database_.handle(), "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr) != SQLITE_OK) {
    return error_of(database_.handle());
  }
  journal_pages_ = 0;
  return {};
}

Status SqliteWriter::probe() {
  return in_transaction([&] { return database_.execute("UPDATE store SET name = name"); });
}

Result<std::vector<Erasure>> SqliteWriter::erase(std::span<const ErasureWanted> wanted) {
  TextEraser eraser(wanted);
  if (Status status = in_transaction([&] { return erase_texts(database_, eraser); }); !status) return status.error();
  partitions_.clear();  // their chains are others now
  if (Status shrunk = shrink(); !shrunk) return shrunk.error();
  if (!empty_journal()) {
    return {ErrorCode::kUnavailable, "another program reads the store: the texts are out of it and still in its journal; erase again"};
  }
  return std::move(eraser).erased();
}

// The copy that SQLite makes first stands beside the store, not where temporary files do: that disk may have no room for it, and what is in
// the store has no business there.
Status SqliteWriter::shrink() {
  const std::string folder = std::filesystem::absolute(path_).parent_path();
  // For all stores of the process, and not to be changed while one uses it.
  if (sqlite3_temp_directory != nullptr && folder == sqlite3_temp_directory) return database_.execute("VACUUM");
  const std::unique_ptr<char, decltype(&sqlite3_free)> place(sqlite3_mprintf("PRAGMA temp_store_directory = %Q", folder.c_str()),
                                                             sqlite3_free);
  if (Status placed = database_.execute(place.get()); !placed) return placed;
  return database_.execute("VACUUM");
}

Result<std::optional<std::uint64_t>> SqliteWriter::latest_snapshot(std::int64_t pool) {
  Execution row = latest_snapshot_(pool);
  const Result<bool> found = row.next();
  if (!found) return found.error();
  return row.null(0) ? std::nullopt : std::optional(row.bits(0));
}

Result<std::int64_t> SqliteWriter::begin_snapshot(std::string_view pool, std::uint64_t offset, const Digest& digest) {
  std::int64_t number = 0;
  const Status status = in_transaction([&]() -> Status {
    const auto known = partition(pool);
    if (!known) return known.error();
    const Partition& where = (*known)->second;
    if (Status possible = check_place({std::string(pool), where.first, where.next}, offset); !possible) return possible;
    Execution row = insert_snapshot_(where.number, offset, digest.high, digest.low);
    const Result<bool> made = row.next();
    if (!made) return made.error();
    number = row.integer(0);
    return {};
  });
  if (!status) return status.error();
  return number;
}

Status SqliteWriter::add_part(std::int64_t snapshot, std::int64_t part, std::string_view bytes) {
  return in_transaction([&] { return insert_part_(snapshot, part, bytes).finish(); });
}

Status SqliteWriter::finish_snapshot(std::int64_t snapshot) {
  return in_transaction([&] {
    Status status = complete_snapshot_(snapshot).finish();
    if (status.ok()) status = replace_snapshots_(snapshot).finish();
    if (status.ok()) status = trim_snapshots_(snapshot, options_.snapshots_kept).finish();
    return status;
  });
}

Result<bool> SqliteWriter::drop_parts() {
  if (!abandoned_.empty()) {
    // The snapshot goes after its parts: another may get its number.
    bool parts = false;
    Status status = in_transaction([&] {
      Status dropped = drop_parts_of_(abandoned_.back(), kPartsAtOnce).finish();
      parts = sqlite3_changes(database_.handle()) > 0;
      return dropped.ok() && !parts ? drop_snapshot_(abandoned_.back()).finish() : std::move(dropped);
    });
    if (!status) return status.error();
    if (!parts) abandoned_.pop_back();
    return true;
  }
  Status status = in_transaction([&] { return drop_parts_(kPartsAtOnce).finish(); });
  if (!status) return status.error();
  return sqlite3_changes(database_.handle()) > 0;
}

Result<bool> SqliteWriter::compact_some(std::string_view pool, std::uint64_t before, AuditKept kept) {
  bool more = false;
  const Status done = in_transaction([&]() -> Status {
    const auto known = partition(pool);
    if (!known) return known.error();
    Partition& where = (*known)->second;
    const auto latest = latest_snapshot(where.number);
    if (!latest) return latest.error();
    if (Status possible = check_compaction(pool, before, *latest); !possible) return possible;
    if (where.first >= before) return {};

    const std::uint64_t first = where.first;
    if (Status taken = take_out(pool, where, std::min(before, first + kCompactedAtOnce), kept); !taken) return taken;
    if (Status deleted = delete_rows_(row_of(where.number, first), row_of(where.number, where.first)).finish(); !deleted) return deleted;
    if (Status dropped = drop_old_snapshots_(where.number, where.first).finish(); !dropped) return dropped;
    more = where.first < before;
    Status status = more ? Status() : delete_strays_(row_of(where.number, 0), row_of(where.number, where.first)).finish();
    return status.ok() ? update(where) : std::move(status);
  });
  if (!done) return done.error();
  return more;
}

// Moves the first record of the pool on to `end`, and what is kept of those before it to the audit. Rows of which nothing is left are the
// caller's to delete.
Status SqliteWriter::take_out(std::string_view pool, Partition& where, std::uint64_t end, AuditKept kept) {
  RowContent rest;  // of a row that goes on behind `end`
  std::int64_t row_number = 0;
  {
    Execution row = select_rows_(row_of(where.number, where.first), row_of(where.number, where.next));
    while (where.first < end) {
      const Result<bool> found = row.next();
      if (!found) return found.error();
      const auto damaged = [&] {
        return Error{ErrorCode::kCorrupt,
                     "event " + std::to_string(where.first) + " of pool " + printable(pool) + " is damaged or missing"};
      };
      if (!*found) return damaged();
      row_number = row.integer(0);
      RowRecords records(row.bytes(2), row.bits(1));
      if (offset_of(row_number) + 1 - records.count() != where.first) return damaged();
      for (std::uint64_t i = 0; i < records.count(); ++i) {
        const std::optional<RowRecords::Stored> record = records.next();
        if (!record) return damaged();
        if (where.first == end) {
          rest.add(record->chain, record->bytes);
          continue;
        }
        where.base = chain_next(where.base, record->bytes);
        if (where.base != record->chain) return damaged();
        if (Status kept_part = keep_in_audit(pool, row_of(where.number, where.first), record->bytes, kept); !kept_part) return kept_part;
        ++where.first;
      }
    }
  }
  return rest.empty() ? Status() : update_row_(row_number, rest.bytes()).finish();
}

Status SqliteWriter::keep_in_audit(std::string_view pool, std::int64_t row, std::string_view record, AuditKept kept) {
  const Result<std::string> rest = audited(record, pool, offset_of(row), kept);
  if (!rest) return rest.error();
  if (rest->empty()) return {};
  const Result<Record> decoded = decode(*rest, pool, offset_of(row));
  if (!decoded) return decoded.error();
  const auto seed = static_cast<std::uint64_t>(row);
  return insert_audit_(row, key_of(decoded->event.id), chain_next(seed, *rest), std::string_view(*rest)).finish();
}

}  // namespace margin::internal
