#include "log/sqlite_log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "log/limits.h"
#include "log/store_format.h"

namespace margin {
namespace {

// A commit that comes while one is written waits for it: a fraction of a millisecond.
constexpr std::size_t kSnapshotPartBytes = std::size_t{64} << 10;

Error named(const std::string& path, const Error& error) { return {error.code, path + ": " + error.message}; }

Status looking() { return {ErrorCode::kUnavailable, "the store is open for looking only"}; }

std::uint64_t file_bytes(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

}  // namespace

Result<std::unique_ptr<SqliteLog>> SqliteLog::open(const std::string& path, const SqliteLogOptions& options) {
  std::unique_ptr<SqliteLog> log(new SqliteLog(path));
  Result<internal::Lease> lease = internal::Lease::take(internal::lock_path(path));
  if (!lease) return lease.error();
  log->lease_ = std::move(lease).value();
  internal::SqliteWriter& writer = log->writer_;
  const internal::SqliteWriter::Options writing{.sync = options.durability == Durability::kDisk,
                                                .busy_wait = options.busy_wait,
                                                .snapshots_kept = options.snapshots_kept,
                                                .pages_max = options.pages_max,
                                                .put_on_disk = options.put_on_disk};
  if (Status status = writer.open(path, writing); !status) return status.error();
  if (Status status = log->reader_.open(path, options.busy_wait); !status) return named(path, status.error());
  internal::CommitQueue::Store store{
      .commit = [&writer](std::span<internal::Waiting> batch) { return writer.commit(batch); },
      .commit_at_once = [&writer](std::span<internal::Waiting> batch) { return writer.commit_at_once(batch); },
      .sync = {},
      .probe = [&writer] { return writer.probe(); }};
  if (writing.sync) store.sync = [&writer](std::size_t events) { return writer.sync(events); };
  log->queue_ = std::make_unique<internal::CommitQueue>(options.queue, std::move(store));
  if (Status status = log->repeat([&writer] { return writer.drop_parts(); }); !status) return named(path, status.error());
  return log;
}

Result<std::unique_ptr<SqliteLog>> SqliteLog::look(const std::string& path) {
  std::unique_ptr<SqliteLog> log(new SqliteLog(path));
  if (Status status = log->reader_.open(path, SqliteLogOptions().busy_wait); !status) return named(path, status.error());
  return log;
}

Status SqliteLog::append(const Entry& entry, Acknowledge acknowledge) {
  return queue_ ? queue_->append(entry, std::move(acknowledge)) : looking();
}

void SqliteLog::cork() {
  if (queue_) queue_->cork();
}

void SqliteLog::uncork() {
  if (queue_) queue_->uncork();
}

void SqliteLog::on_commit(std::function<void()> listener) {
  if (queue_) queue_->on_commit(std::move(listener));
}

Result<std::vector<Record>> SqliteLog::read(std::string_view pool, std::uint64_t from, std::size_t records_max) {
  return reader_.read(pool, from, records_max);
}

Result<std::optional<Record>> SqliteLog::find(std::string_view pool, const Uuid& id) { return reader_.find(pool, id); }
Result<std::vector<PoolPosition>> SqliteLog::pools() { return reader_.pools(); }

Result<std::optional<StoredSnapshot>> SqliteLog::latest_snapshot(std::string_view pool, std::uint64_t at_or_before) {
  return reader_.latest_snapshot(pool, at_or_before);
}

Result<std::vector<std::uint64_t>> SqliteLog::snapshots(std::string_view pool) { return reader_.snapshots(pool); }

Status SqliteLog::repeat(const std::function<Result<bool>()>& step) {
  bool more = true;
  while (more) {
    Status status = queue_->run([&]() -> Status {
      const Result<bool> done = step();
      if (!done) return done.error();
      more = *done;
      return {};
    });
    if (!status) return status;
  }
  return {};
}

Status SqliteLog::keep_snapshot(std::string_view pool, const StoredSnapshot& snapshot, const Pause& pause) {
  if (!queue_) return looking();
  std::int64_t number = 0;
  if (Status sound = internal::check_bytes(pool, snapshot, pause); !sound) return sound;
  Status status = queue_->run([&]() -> Status {
    const Result<std::int64_t> begun = writer_.begin_snapshot(pool, snapshot);
    if (!begun) return begun.error();
    number = *begun;
    return {};
  });
  const std::string_view bytes = snapshot.bytes;
  std::int64_t part = 0;
  for (std::size_t at = 0; status.ok() && at < bytes.size(); at += kSnapshotPartBytes, ++part) {
    writer_.wait_for_room();
    status = queue_->run([&] { return writer_.add_part(number, part, bytes.substr(at, kSnapshotPartBytes)); });
    if (pause) pause();
  }
  if (status.ok()) status = queue_->run([&] { return writer_.finish_snapshot(number); });
  if (!status) return status;
  return repeat([&] { return writer_.drop_parts(); });
}

Status SqliteLog::compact(std::string_view pool, std::uint64_t before, AuditKept kept) {
  if (!queue_) return looking();
  if (Status status = repeat([&] { return writer_.compact_some(pool, before, kept); }); !status) return status;
  return repeat([&] { return writer_.drop_parts(); });
}

Status SqliteLog::backup(const std::string& target) {
  if (file_bytes(target) > 0) return {ErrorCode::kConflict, target + ": exists; a backup replaces nothing"};
  return copy_to(target, [] {});
}

Status SqliteLog::restore(const std::string& backup, const std::string& target) {
  const Result<std::unique_ptr<SqliteLog>> source = look(backup);
  if (!source) return source.error();
  if (Status status = (*source)->check_file(); !status) return named(backup, status.error());
  const Result<internal::Lease> lease = internal::Lease::take(internal::lock_path(target));
  if (!lease) return lease.error();
  // A journal would be taken for the copy's own, and the number of what was acknowledged is that of another history.
  return (*source)->copy_to(target, [&target] {
    for (const std::string& stale : {target + "-wal", target + "-shm", internal::high_water_path(target)}) unlink(stale.c_str());
  });
}

// Beside the target first: a copy that was cut off must not look like one.
Status SqliteLog::copy_to(const std::string& target, const std::function<void()>& before_renaming) {
  const std::string partial = target + ".partial";
  unlink(partial.c_str());
  const Status status = reader_.copy_to(partial);
  if (status.ok()) before_renaming();
  if (status.ok() && rename(partial.c_str(), target.c_str()) == 0) return {};
  unlink(partial.c_str());
  return status.ok() ? Status(ErrorCode::kUnavailable, target + ": cannot be made") : named(target, status.error());
}

Status SqliteLog::shrink() {
  return queue_ ? queue_->run([this] { return writer_.shrink(); }) : looking();
}

Result<std::vector<Erasure>> SqliteLog::erase(std::span<const ErasureWanted> wanted) {
  Result<std::vector<Erasure>> erased = looking().error();
  if (!queue_) return erased;
  const Status status = queue_->run([&]() -> Status {
    erased = writer_.erase(wanted);
    return erased ? Status() : Status(erased.error());
  });
  return status ? std::move(erased) : status.error();
}

Status SqliteLog::writable() { return queue_ ? queue_->writable() : looking(); }

LogFigures SqliteLog::figures() const {
  LogFigures figures = queue_ ? queue_->figures() : LogFigures();
  figures.stored_bytes = file_bytes(path_) + file_bytes(path_ + "-wal");
  figures.journal_bytes = writer_.journal_bytes();
  figures.held_up = writer_.held_up();
  return figures;
}

void SqliteLog::flush() {
  if (queue_) queue_->flush();
}

void SqliteLog::close() {
  if (queue_) queue_->close();
  reader_.close();
  writer_.close();  // last, so that the journal goes into the store
  lease_.release();
}

}  // namespace margin
