#include "log/sqlite_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "log/codec.h"
#include "log/descriptor.h"
#include "log/lease.h"
#include "log/limits.h"
#include "log/recovery.h"
#include "log/replacement.h"
#include "log/store_format.h"

namespace margin {
namespace {

// What is carried over while one is written waits for it: a fraction of a millisecond.
constexpr std::size_t kSnapshotPartBytes = std::size_t{64} << 10;

Error named(const std::string& path, const Error& error) { return {error.code, path + ": " + error.message}; }

Result<bool> drop_parts(internal::SqliteWriter& writer) { return writer.drop_parts(); }

Status looking() { return {ErrorCode::kUnavailable, "the store is open for looking only"}; }

std::uint64_t file_bytes(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

// SQLite's journal stands beside the file that a link leads to, and so must all else that belongs to a store.
std::string file_behind(const std::string& path) {
  constexpr int kLinksMax = 40;
  std::error_code error;
  std::filesystem::path file = path;
  for (int i = 0; i < kLinksMax && std::filesystem::is_symlink(file, error); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / next;
  }
  return file.string();
}

// A store, or what is left of one: its number of acknowledged events stands beside it. Anything else was named by a slip.
Status check_replaceable(const std::string& path) {
  if (SqliteLog::is_unmade(path)) return {};
  struct stat found {};
  const bool store = stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
                     (access(internal::high_water_path(path).c_str(), F_OK) == 0 || SqliteLog::look(path).ok());
  if (store) return {};
  return {ErrorCode::kConflict,
          path + ": is no store, nor is there a " + internal::high_water_path(path) + " beside it; a backup replaces stores alone"};
}

// Every record, every snapshot and what they come to, as `margin state verify` does.
Status check_whole(const std::string& path) {
  const Result<std::unique_ptr<SqliteLog>> log = SqliteLog::look(path);
  if (!log) return log.error();
  if (Status status = (*log)->check_file(); !status) return status;
  const Result<Verification> verification = verify(**log);
  if (!verification) return verification.error();
  for (const VerifiedPool& pool : verification->pools) {
    if (!pool.whole()) return {ErrorCode::kCorrupt, pool.findings.front()};
  }
  return {};
}

// An empty file that others may read and write as they may `model`, before anything is in it, kept from whoever else would write it; its
// owner may do both, as it is to be written. What one that was cut off has left is cleared away.
Result<internal::Descriptor> make_like(const std::string& path, const std::string& model) {
  struct stat found {};
  struct stat named {};
  internal::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.open()) return {ErrorCode::kUnavailable, std::string("cannot be made: ") + std::strerror(errno)};
  // Whoever had it before may have put it in its place by now.
  const bool mine = internal::try_to_lock(file.get()) && fstat(file.get(), &found) == 0 && stat(path.c_str(), &named) == 0 &&
                    found.st_dev == named.st_dev && found.st_ino == named.st_ino;
  if (!mine) return {ErrorCode::kUnavailable, "another process is writing " + path};
  for (const char* suffix : {"-wal", "-shm"}) unlink((path + suffix).c_str());
  if (ftruncate(file.get(), 0) != 0) return {ErrorCode::kUnavailable, std::string("cannot be made: ") + std::strerror(errno)};
  if (stat(model.c_str(), &found) == 0) {
    found.st_mode |= S_IRUSR | S_IWUSR;
    internal::resemble(file.get(), found);
  }
  return file;
}

}  // namespace

Result<std::unique_ptr<SqliteLog>> SqliteLog::open(const std::string& named_path, const SqliteLogOptions& options) {
  const std::string path = file_behind(named_path);
  std::unique_ptr<SqliteLog> log(new SqliteLog(path));
  Result<internal::Lease> lease = internal::Lease::take(path);
  if (!lease) return lease.error();
  log->lease_ = std::move(lease).value();
  if (Status status = internal::check_replacement_is_over(path); !status) return status.error();
  internal::TailedWriter& writer = log->writer_;
  const internal::TailedWriter::Options writing{.sync = options.durability == Durability::kDisk,
                                                .busy_wait = options.busy_wait,
                                                .snapshots_kept = options.snapshots_kept,
                                                .pages_max = options.pages_max,
                                                .put_on_disk = options.put_on_disk,
                                                .let_others_in = options.let_others_in};
  if (Status status = writer.open(path, writing); !status) return status.error();
  if (Status status = log->lease_.extend(path); !status) return status.error();
  if (Status status = log->reader_.open(path, options.busy_wait); !status) return named(path, status.error());
  internal::CommitQueue::Store store{.commit = [&writer](std::span<internal::Waiting> batch) { return writer.commit(batch); },
                                     .commit_at_once = {},
                                     .probe = [&writer] { return writer.probe(); }};
  if (!writing.sync) store.commit_at_once = [&writer](std::span<internal::Waiting> batch) { return writer.commit_at_once(batch); };
  log->queue_ = std::make_unique<internal::CommitQueue>(options.queue, std::move(store));
  if (Status status = log->repeat(drop_parts); !status) return named(path, status.error());
  return log;
}

Result<std::unique_ptr<SqliteLog>> SqliteLog::look(const std::string& named_path) {
  const std::string path = file_behind(named_path);
  std::unique_ptr<SqliteLog> log(new SqliteLog(path));
  if (Status status = log->reader_.open(path, SqliteLogOptions().busy_wait); !status) return named(path, status.error());
  return log;
}

bool SqliteLog::is_unmade(const std::string& named_path) {
  const std::string path = file_behind(named_path);
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return errno == ENOENT;
  if (!S_ISREG(found.st_mode)) return false;
  internal::SqliteReader reader;
  return found.st_size == 0 || (!reader.open(path, SqliteLogOptions().busy_wait) && reader.empty());
}

Status SqliteLog::append(const Entry& entry, Acknowledge acknowledge) {
  return queue_ ? queue_->append(entry, std::move(acknowledge)) : looking();
}

Status SqliteLog::append_together(std::span<Grouped> group) { return queue_ ? queue_->append_together(group) : looking(); }

void SqliteLog::cork() {
  if (queue_) queue_->cork();
}

void SqliteLog::uncork() {
  if (queue_) queue_->uncork();
}

void SqliteLog::on_commit(std::function<void()> listener) {
  if (queue_) queue_->on_commit(std::move(listener));
}

Result<internal::TailContent> SqliteLog::tail() {
  return queue_ && writer_.tail_is_empty() ? internal::TailContent() : internal::TailContent::read(path_, reader_.store());
}

Result<std::vector<Record>> SqliteLog::read(std::string_view pool, std::uint64_t from, std::size_t records_max) {
  const Result<internal::TailContent> tail = this->tail();
  if (!tail) return tail.error();
  std::size_t bytes = 0;
  Result<std::vector<Record>> records = reader_.read(pool, from, records_max, bytes);
  if (!records) return records;
  for (const internal::TailRecord& each : tail->records()) {
    if (each.pool != pool || each.offset != from + records->size()) continue;
    if (records->size() >= std::min(records_max, internal::kReadRecordsMax) || bytes >= internal::kReadBytesMax) break;
    Result<Record> record = internal::decode(each.bytes, pool, each.offset);
    if (!record) return record.error();
    bytes += each.bytes.size();
    records->push_back(std::move(record).value());
  }
  return records;
}

Result<std::optional<Record>> SqliteLog::find(std::string_view pool, const Uuid& id) {
  const Result<internal::TailContent> tail = this->tail();
  if (!tail) return tail.error();
  Result<std::optional<Record>> found = reader_.find(pool, id);
  if (!found || *found) return found;
  for (const internal::TailRecord& each : tail->records()) {
    if (each.id != id || each.pool != pool) continue;
    Result<Record> record = internal::decode(each.bytes, pool, each.offset);
    if (!record) return record.error();
    return std::optional<Record>(std::move(record).value());
  }
  return found;
}

Result<std::vector<PoolPosition>> SqliteLog::pools() {
  const Result<internal::TailContent> tail = this->tail();
  if (!tail) return tail.error();
  Result<std::vector<PoolPosition>> pools = reader_.pools();
  if (!pools) return pools;
  for (const internal::TailRecord& each : tail->records()) {
    const auto place = std::lower_bound(pools->begin(), pools->end(), each.pool,
                                        [](const PoolPosition& position, std::string_view name) { return position.pool < name; });
    if (place == pools->end() || place->pool != each.pool) {
      if (each.offset == 0) pools->insert(place, {.pool = std::string(each.pool), .first = 0, .next = 1});
    } else if (each.offset == place->next) {
      ++place->next;
    }
  }
  return pools;
}

Status SqliteLog::check_file() {
  const std::string head = internal::high_water_path(path_);
  if (access(head.c_str(), R_OK) != 0 && errno != ENOENT)
    return {ErrorCode::kUnavailable, head + ": cannot be read: " + std::strerror(errno)};
  // First what was acknowledged, then what is there: a server may be adding to both.
  const std::optional<internal::Acknowledged> acknowledged = internal::HighWater::read(head);
  const Result<std::vector<PoolPosition>> pools = this->pools();
  if (!pools) return pools.error();
  internal::Acknowledged there{.store = reader_.store()};
  for (const PoolPosition& position : *pools) there.records += position.next;
  std::string lost;
  if (Status status = internal::check_acknowledged(path_, acknowledged, there, lost); !status) return status;
  if (!lost.empty()) return {ErrorCode::kCorrupt, lost};
  return reader_.check_file();
}

Status SqliteLog::settle() { return queue_ ? writer_.settle() : looking(); }

Result<std::optional<StoredSnapshot>> SqliteLog::latest_snapshot(std::string_view pool, std::uint64_t at_or_before) {
  return reader_.latest_snapshot(pool, at_or_before);
}

Result<std::vector<std::uint64_t>> SqliteLog::snapshots(std::string_view pool) { return reader_.snapshots(pool); }

Status SqliteLog::repeat(const std::function<Result<bool>(internal::SqliteWriter&)>& step) {
  while (true) {
    const Result<bool> more = writer_.use(step);
    if (!more) return more.error();
    if (!*more) return {};
    if (Status room = writer_.wait_for_room(); !room) return room;
  }
}

Status SqliteLog::keep_snapshot(std::string_view pool, SnapshotToKeep snapshot, const Pause& pause) {
  if (!queue_) return looking();
  const Result<Digest> digest = internal::check_bytes(pool, snapshot, pause);
  if (!digest) return digest.error();
  if (Status settled = writer_.settle_at_leisure(); !settled) return settled;
  const Result<std::int64_t> number =
      writer_.use([&](internal::SqliteWriter& writer) { return writer.begin_snapshot(pool, snapshot.offset, *digest); });
  if (!number) return number.error();
  Status written = write_snapshot(*number, std::move(snapshot), pause);
  if (!written) {
    writer_.use([&](internal::SqliteWriter& writer) { writer.abandon_snapshot(*number); });
    // Where this fails too, the next one takes it away.
    static_cast<void>(repeat(drop_parts));
    return written;
  }
  return repeat(drop_parts);
}

Status SqliteLog::write_snapshot(std::int64_t number, SnapshotToKeep snapshot, const Pause& pause) {
  std::int64_t part = 0;
  for (std::string& piece : snapshot.pieces) {
    const std::string bytes = std::move(piece);  // given back when it is in the store
    for (std::size_t at = 0; at < bytes.size(); at += kSnapshotPartBytes, ++part) {
      if (Status room = writer_.wait_for_room(); !room) return room;
      const std::string_view some = std::string_view(bytes).substr(at, kSnapshotPartBytes);
      if (Status added = writer_.use([&](internal::SqliteWriter& writer) { return writer.add_part(number, part, some); }); !added)
        return added;
      if (pause) pause();
    }
  }
  return writer_.use([&](internal::SqliteWriter& writer) { return writer.finish_snapshot(number); });
}

Status SqliteLog::compact(std::string_view pool, std::uint64_t before, AuditKept kept) {
  if (!queue_) return looking();
  if (Status settled = writer_.settle_at_leisure(); !settled) return settled;
  const auto step = [&](internal::SqliteWriter& writer) { return writer.compact_some(pool, before, kept); };
  if (Status status = repeat(step); !status) return status;
  return repeat(drop_parts);
}

Status SqliteLog::backup(const std::string& target) {
  if (file_bytes(target) > 0) return {ErrorCode::kConflict, target + ": exists; a backup replaces nothing"};
  // What another store left would be taken for the backup's own.
  for (const std::string& left : {target + "-wal", target + "-shm", internal::high_water_path(target), internal::tail_path(target, 0),
                                  internal::tail_path(target, 1)}) {
    if (access(left.c_str(), F_OK) == 0) return {ErrorCode::kConflict, left + ": exists; a backup needs a name that no store has had"};
  }
  return copy_to(target, [&target](const std::string& copy) -> Status {
    if (Status status = internal::put_file_on_disk(copy); !status) return status;
    if (rename(copy.c_str(), target.c_str()) != 0) return {ErrorCode::kUnavailable, std::string("cannot be made: ") + std::strerror(errno)};
    return internal::put_names_on_disk(target);
  });
}

Status SqliteLog::restore(const std::string& backup, const std::string& named_target) {
  const std::string target = file_behind(named_target);
  const Result<std::unique_ptr<SqliteLog>> source = look(backup);
  if (!source) return source.error();
  if (Status status = (*source)->check_file(); !status) return named(backup, status.error());
  if (Status status = check_replaceable(target); !status) return status;
  const Result<internal::Lease> lease = internal::Lease::take(target);
  if (!lease) return lease.error();
  return (*source)->copy_to(target, [&](const std::string& copy) -> Status {
    if (Status sound = check_whole(copy); !sound) return named(backup, sound.error());
    return internal::replace_store(copy, target);
  });
}

// Beside the target first: a copy that was cut off must not look like one.
Status SqliteLog::copy_to(const std::string& target, const std::function<Status(const std::string& copy)>& put_in_place) {
  const std::string partial = internal::partial_path(target);
  const Result<internal::TailContent> tail = this->tail();
  if (!tail) return tail.error();
  // Open for as long as SQLite has the file: closing it lets go of the locks that the process has through others.
  const Result<internal::Descriptor> mine = make_like(partial, file_bytes(target) > 0 ? target : path_);
  if (!mine) return named(target, mine.error());
  Status status = reader_.copy_to(partial);
  if (status.ok() && !tail->records().empty()) {
    internal::SqliteWriter copy;
    status = copy.open(partial, {});
    if (status.ok()) status = copy.add(tail->records());
    if (status.ok()) status = copy.empty_journal();
    copy.close();
    // Without its journal, which goes when all of it is in the file, the copy would not be whole.
    if (status.ok() && file_bytes(partial + "-wal") > 0) status = {ErrorCode::kUnavailable, "its journal cannot be put into it"};
  }
  if (status.ok()) status = put_in_place(partial);
  if (status.ok()) return {};
  for (const char* suffix : {"", "-wal", "-shm"}) unlink((partial + suffix).c_str());
  return named(target, status.error());
}

Status SqliteLog::shrink() {
  return queue_ ? writer_.use([](internal::SqliteWriter& writer) { return writer.shrink(); }) : looking();
}

Result<std::vector<Erasure>> SqliteLog::erase(std::span<const ErasureWanted> wanted) {
  if (!queue_) return looking().error();
  if (Status settled = writer_.settle(); !settled) return settled.error();
  Result<std::vector<Erasure>> erased = writer_.use([&](internal::SqliteWriter& writer) { return writer.erase(wanted); });
  // What the tail still holds of what is in the file by now.
  if (erased) {
    if (Status wiped = writer_.settle_and_erase(); !wiped) return wiped.error();
  }
  return erased;
}

Status SqliteLog::writable() { return queue_ ? queue_->writable() : looking(); }

LogFigures SqliteLog::figures() const {
  LogFigures figures = queue_ ? queue_->figures() : LogFigures();
  figures.stored_bytes = file_bytes(path_);
  if (!queue_) return figures;
  figures.journal_bytes = writer_.bytes_behind();
  figures.stored_bytes += figures.journal_bytes;
  figures.held_up = writer_.held_up();
  return figures;
}

void SqliteLog::flush() {
  if (queue_) queue_->flush();
}

void SqliteLog::close() {
  if (queue_) queue_->close();
  reader_.close();
  writer_.close();  // last, so that the journal and the tail go into the store
  lease_.release();
}

}  // namespace margin
