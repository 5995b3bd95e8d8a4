#include "log/sqlite_reader.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/hex.h"
#include "base/text.h"
#include "log/codec.h"
#include "log/limits.h"
#include "log/store_format.h"
#include "log/stored_row.h"

namespace margin::internal {
namespace {

// All statements in between see one moment of the store.
class Moment {
 public:
  Moment(Statement& begin, Statement& end) : end_(end), status_(begin().finish()) {}
  Moment(const Moment&) = delete;
  Moment& operator=(const Moment&) = delete;
  ~Moment() {
    if (status_.ok()) static_cast<void>(end_().finish());
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  Statement& end_;
  Status status_;
};

Error damaged(std::string_view pool, std::uint64_t offset, std::string_view how) {
  return {ErrorCode::kCorrupt, "event " + std::to_string(offset) + " of pool " + printable(pool) + " " + std::string(how)};
}

// A name as SQLite's URIs take it.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char each : path) {
    if (each == '%' || each == '?' || each == '#') {
      text += "%" + hex(static_cast<std::uint64_t>(each)).substr(14);
    } else {
      text += each;
    }
  }
  return text;
}

// A reader of a write-ahead journal takes locks in a file beside the store, so it asks for more than reading. Where it may not, and there
// is no journal (a closed store on a medium, or in a folder, that cannot be written), it reads the file alone.
Result<Database> open_to_read(const std::string& path) {
  Result<Database> database = Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
  if (!database || access((path + "-wal").c_str(), F_OK) == 0) return database;
  const std::string folder = std::filesystem::absolute(path).parent_path();
  if (sqlite3_db_readonly(database->handle(), "main") != 1 && access(folder.c_str(), W_OK) == 0) return database;
  return Database::open("file:" + escaped(path) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX);
}

constexpr std::string_view kMissing = "is missing from the log";
constexpr std::string_view kChanged = "is damaged: its bytes do not match their checksum";

}  // namespace

Status SqliteReader::open(const std::string& path, std::chrono::milliseconds busy_wait) {
  const bool at_rest = access((path + "-wal").c_str(), F_OK) != 0;
  Result<Database> database = open_to_read(path);
  if (!database) return database.error();
  database_ = std::move(database).value();
  sqlite3_busy_timeout(database_.handle(), static_cast<int>(busy_wait.count()));
  // A journal that is there is the writer's to put away, and may be evidence.
  if (!at_rest) sqlite3_db_config(database_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  const Result<bool> empty = check_format(database_);
  if (!empty && !at_rest && sqlite3_db_readonly(database_.handle(), "main") == 1 && access((path + "-shm").c_str(), F_OK) != 0) {
    return {ErrorCode::kUnavailable, "its journal (" + path + "-wal) cannot be read where nothing may be written (" +
                                         empty.error().message +
                                         "): copy the store with all files beside it to where it may be, and look there"};
  }
  if (!empty) return empty.error();
  empty_ = *empty;
  if (empty_) return {ErrorCode::kCorrupt, "the file is empty, not an event log"};
  const Result<Contents> contents = contents_of(database_);
  if (!contents) return contents.error();
  store_ = contents->name;
  if (Status status = read_as_newest(database_); !status) return status;
  if (Status status = database_.execute("PRAGMA query_only = 1"); !status) return status;
  struct Wanted {
    Statement& statement;
    std::string sql;
  };
  const std::string partitions = kPartitions;
  for (const auto& [statement, sql] : {
           Wanted{begin_, "BEGIN"},
           Wanted{end_, "COMMIT"},
           Wanted{select_pool_, "SELECT pool, first, next, base, head FROM (" + partitions + ") WHERE name = ?1"},
           Wanted{select_pools_, "SELECT name, first, next FROM (" + partitions + ") ORDER BY name"},
           Wanted{select_chain_, "SELECT chain FROM events WHERE row = ?1"},
           Wanted{select_rows_, "SELECT row, chain, record FROM events WHERE row >= ?1 AND row < ?2 ORDER BY row"},
           Wanted{select_key_, "SELECT row, key FROM events WHERE row >= ?1 ORDER BY row LIMIT 1"},
           Wanted{select_strays_, "SELECT row FROM strays WHERE key = ?1 AND row >= ?2 AND row < ?3 ORDER BY row"},
           Wanted{select_audit_by_key_, "SELECT row, checksum, record FROM audit WHERE key = ?1 AND row >= ?2 AND row < ?3 ORDER BY row"},
           Wanted{select_snapshot_,
                  "SELECT snapshot, offset, digest_high, digest_low FROM snapshots WHERE pool = ?1 AND complete = 1 AND offset <= ?2 "
                  "ORDER BY offset DESC LIMIT 1"},
           Wanted{select_snapshots_,
                  "SELECT offset FROM snapshots WHERE complete = 1 AND pool = (SELECT pool FROM pools WHERE name = ?1) ORDER BY offset"},
           Wanted{select_parts_, "SELECT bytes FROM snapshot_parts WHERE snapshot = ?1 ORDER BY part"},
       }) {
    if (Status status = database_.prepare(statement, sql.c_str()); !status) return status;
  }
  return {};
}

void SqliteReader::close() {
  const std::lock_guard lock(mutex_);
  for (Statement* statement : {&begin_, &end_, &select_pool_, &select_pools_, &select_chain_, &select_rows_, &select_key_, &select_strays_,
                               &select_audit_by_key_, &select_snapshot_, &select_parts_, &select_snapshots_}) {
    *statement = Statement();
  }
  database_ = Database();
}

Result<std::optional<SqliteReader::Partition>> SqliteReader::partition(std::string_view pool) {
  Execution row = select_pool_(pool);
  const Result<bool> found = row.next();
  if (!found) return found.error();
  if (!*found) return std::optional<Partition>();
  return std::optional<Partition>(Partition{.number = row.integer(0),
                                            .name = std::string(pool),
                                            .first = row.bits(1),
                                            .next = row.bits(2),
                                            .base = row.bits(3),
                                            .head = row.bits(4)});
}

Result<std::uint64_t> SqliteReader::chain_before(const Partition& partition, std::uint64_t offset) {
  if (offset == partition.first) return partition.base;
  Execution row = select_chain_(row_of(partition.number, offset - 1));
  const Result<bool> found = row.next();
  if (!found) return found.error();
  if (!*found) return damaged(partition.name, offset - 1, kMissing);
  return row.bits(0);
}

Result<std::vector<Record>> SqliteReader::read(std::string_view pool, std::uint64_t from, std::size_t records_max, std::size_t& bytes) {
  const std::lock_guard lock(mutex_);
  const Moment moment(begin_, end_);
  if (!moment.status()) return moment.status().error();
  const Result<std::optional<Partition>> found = partition(pool);
  if (!found) return found.error();
  std::vector<Record> records;
  if (!*found || from >= (*found)->next) return records;
  const Partition& where = **found;
  if (Status status = check_read({where.name, where.first, where.next}, from); !status) return status.error();

  const std::uint64_t wanted = std::min<std::uint64_t>({records_max, kReadRecordsMax, where.next - from});
  std::uint64_t chain = 0;
  Execution row = select_rows_(row_of(where.number, from), row_of(where.number, where.next));
  while (records.size() < wanted && bytes < kReadBytesMax) {
    const std::uint64_t next = from + records.size();
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return damaged(pool, next, kMissing);
    RowRecords stored(row.bytes(2), row.bits(1));
    std::uint64_t offset = offset_of(row.integer(0)) + 1 - stored.count();
    // Only the first row may begin earlier.
    if (offset > next || (offset < next && next != from)) return damaged(pool, next, kMissing);
    if (offset == from) {
      const Result<std::uint64_t> before = chain_before(where, from);
      if (!before) return before.error();
      chain = *before;
    }
    for (std::uint64_t i = 0; i < stored.count() && records.size() < wanted && bytes < kReadBytesMax; ++i, ++offset) {
      const std::optional<RowRecords::Stored> each = stored.next();
      if (!each) return damaged(pool, offset, kChanged);
      if (offset >= from) {
        if (chain_next(chain, each->bytes) != each->chain) return damaged(pool, offset, kChanged);
        Result<Record> record = decode(each->bytes, pool, offset);
        if (!record) return record.error();
        bytes += each->bytes.size();
        records.push_back(std::move(record).value());
      }
      chain = each->chain;
    }
  }
  if (from + records.size() == where.next && chain != where.head) {
    return damaged(pool, where.next - 1, "is not the last that was written: the end of the log is damaged");
  }
  return records;
}

Result<std::optional<Record>> SqliteReader::find(std::string_view pool, const Uuid& id) {
  const std::lock_guard lock(mutex_);
  const Moment moment(begin_, end_);
  if (!moment.status()) return moment.status().error();
  const Result<std::optional<Partition>> where = partition(pool);
  if (!where) return where.error();
  if (!*where) return std::optional<Record>();
  // The audit holds the earlier ones.
  Result<std::optional<Record>> audited = find_audited(**where, id);
  if (!audited || *audited) return audited;
  return find_retained(**where, id);
}

Result<std::optional<Record>> SqliteReader::find_retained(const Partition& where, const Uuid& id) {
  const Result<std::int64_t> row = row_by_key(where, key_of(id));
  if (!row) return row.error();
  Result<std::optional<Record>> found = find_in_row(where, *row, id);
  if (!found || *found) return found;
  Execution stray = select_strays_(key_of(id), row_of(where.number, where.first), row_of(where.number, where.next));
  while (true) {
    const Result<bool> more = stray.next();
    if (!more) return more.error();
    if (!*more) return std::optional<Record>();
    found = find_in_row(where, stray.integer(0), id);
    if (!found || *found) return found;
  }
}

Result<std::int64_t> SqliteReader::row_by_key(const Partition& where, std::int64_t key) {
  std::int64_t begin = row_of(where.number, where.first);
  std::int64_t end = row_of(where.number, where.next);
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    Execution row = select_key_(middle);
    const Result<bool> found = row.next();
    if (!found) return found.error();
    if (!*found || row.integer(1) >= key) {
      end = middle;
    } else {
      begin = row.integer(0) + 1;
    }
  }
  return begin;
}

Result<std::optional<Record>> SqliteReader::find_in_row(const Partition& where, std::int64_t at, const Uuid& id) {
  Execution row = select_rows_(at, row_of(where.number, where.next));
  const Result<bool> found = row.next();
  if (!found) return found.error();
  if (!*found) return std::optional<Record>();
  RowRecords stored(row.bytes(2), row.bits(1));
  std::uint64_t offset = offset_of(row.integer(0)) + 1 - stored.count();
  Result<std::uint64_t> chain = chain_before(where, offset);
  if (!chain) return chain.error();
  for (std::uint64_t i = 0; i < stored.count(); ++i, ++offset) {
    const std::optional<RowRecords::Stored> each = stored.next();
    if (!each || chain_next(*chain, each->bytes) != each->chain) return damaged(where.name, offset, kChanged);
    *chain = each->chain;
    Result<Record> record = decode(each->bytes, where.name, offset);
    if (!record) return record.error();
    if (record->event.id == id) return std::optional<Record>(std::move(record).value());
  }
  return std::optional<Record>();
}

Result<std::optional<Record>> SqliteReader::find_audited(const Partition& where, const Uuid& id) {
  Execution row = select_audit_by_key_(id.high, row_of(where.number, 0), row_of(where.number, where.first));
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return std::optional<Record>();
    const std::uint64_t offset = offset_of(row.integer(0));
    if (chain_next(row.bits(0), row.bytes(2)) != row.bits(1)) return damaged(where.name, offset, kChanged);
    Result<Record> record = decode(row.bytes(2), where.name, offset);
    if (!record) return record.error();
    if (record->event.id == id) return std::optional<Record>(std::move(record).value());
  }
}

Result<std::vector<PoolPosition>> SqliteReader::pools() {
  const std::lock_guard lock(mutex_);
  std::vector<PoolPosition> pools;
  Execution row = select_pools_();
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return pools;
    pools.push_back({std::string(row.bytes(0)), row.bits(1), row.bits(2)});
  }
}

Result<std::optional<StoredSnapshot>> SqliteReader::latest_snapshot(std::string_view pool, std::uint64_t at_or_before) {
  const std::lock_guard lock(mutex_);
  const Moment moment(begin_, end_);
  if (!moment.status()) return moment.status().error();
  const Result<std::optional<Partition>> where = partition(pool);
  if (!where) return where.error();
  if (!*where) return std::optional<StoredSnapshot>();
  const auto last = std::min<std::uint64_t>(at_or_before, std::numeric_limits<std::int64_t>::max());
  Execution row = select_snapshot_((*where)->number, last);
  const Result<bool> found = row.next();
  if (!found) return found.error();
  if (!*found) return std::optional<StoredSnapshot>();
  StoredSnapshot snapshot{.offset = row.bits(1), .digest = {row.bits(2), row.bits(3)}};
  Execution part = select_parts_(row.integer(0));
  while (true) {
    const Result<bool> more = part.next();
    if (!more) return more.error();
    if (!*more) break;
    snapshot.bytes += part.bytes(0);
  }
  if (Status status = check_snapshot({(*where)->name, (*where)->first, (*where)->next}, snapshot); !status) {
    return {ErrorCode::kCorrupt, status.error().message};
  }
  return std::optional<StoredSnapshot>(std::move(snapshot));
}

Result<std::vector<std::uint64_t>> SqliteReader::snapshots(std::string_view pool) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> offsets;
  Execution row = select_snapshots_(pool);
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return offsets;
    offsets.push_back(row.bits(0));
  }
}

Status SqliteReader::copy_to(const std::string& target) {
  const std::lock_guard lock(mutex_);
  Result<Database> copy = Database::open(target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  if (!copy) return copy.error();
  sqlite3_backup* backup = sqlite3_backup_init(copy->handle(), "main", database_.handle(), "main");
  if (backup == nullptr) return error_of(copy->handle());
  // In one step, which is one moment of the store; in several, each commit in between would make it begin again.
  const int code = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE || finished != SQLITE_OK) return error_of(copy->handle());
  return {};
}

Status SqliteReader::check_file() {
  const std::lock_guard lock(mutex_);
  Statement pages;
  if (Status status = database_.prepare(pages, "PRAGMA integrity_check(1)"); !status) return status;
  {
    Execution row = pages();
    const Result<bool> found = row.next();
    if (!found) return found.error();
    if (row.bytes(0) != "ok") return {ErrorCode::kCorrupt, "the store is damaged: " + printable(row.bytes(0), 400)};
  }
  if (Status status = check_keys(); !status) return status;
  Statement audit;
  if (Status status = database_.prepare(audit,
                                        "SELECT pools.name, audit.row, checksum, record FROM audit JOIN pools "
                                        "ON pools.pool = audit.row >> 40");
      !status) {
    return status;
  }
  Execution row = audit();
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return {};
    if (chain_next(row.bits(1), row.bytes(3)) != row.bits(2)) return damaged(row.bytes(0), offset_of(row.integer(1)), kChanged);
  }
}

Status SqliteReader::check_keys() {
  const Result<std::int64_t> version = database_.integer("PRAGMA user_version");
  if (!version) return version.error();
  if (*version < kSharedRowsSince) return {};  // each record has a key of its own
  Statement keys;
  if (Status status = database_.prepare(keys, "SELECT row, key FROM events ORDER BY row"); !status) return status;
  std::int64_t row_before = 0;
  std::int64_t key_before = 0;
  Execution row = keys();
  while (true) {
    const Result<bool> more = row.next();
    if (!more) return more.error();
    if (!*more) return {};
    if (pool_of(row.integer(0)) == pool_of(row_before) && row.integer(1) < key_before) {
      return {ErrorCode::kCorrupt, "the store is damaged: row " + std::to_string(row.integer(0)) +
                                       " of its events has a smaller key than the one before, so that events are not found by their id"};
    }
    row_before = row.integer(0);
    key_before = row.integer(1);
  }
}

}  // namespace margin::internal
