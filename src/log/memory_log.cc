#include "log/memory_log.h"

#include <utility>

namespace margin {

MemoryLog::MemoryLog(const MemoryLogOptions& options)
    : LogInMemory(options.snapshots_kept),
      queue_(options.queue, {.commit =
                                 [this](std::span<internal::Waiting> batch) {
                                   store(batch);
                                   return Status();
                                 },
                             .commit_at_once =
                                 [this](std::span<internal::Waiting> batch) {
                                   store(batch);
                                   return true;
                                 },
                             .probe = [] { return Status(); }}) {}

void MemoryLog::store(std::span<internal::Waiting> batch) {
  for (internal::Waiting& item : batch) item.offset = store_.append(item.pool, item.id, item.bytes);
}

Status MemoryLog::append(const Entry& entry, Acknowledge acknowledge) { return queue_.append(entry, std::move(acknowledge)); }
Status MemoryLog::append_together(std::span<Grouped> group) { return queue_.append_together(group); }
void MemoryLog::cork() { queue_.cork(); }
void MemoryLog::uncork() { queue_.uncork(); }
void MemoryLog::on_commit(std::function<void()> listener) { queue_.on_commit(std::move(listener)); }

Result<std::vector<Record>> LogInMemory::read(std::string_view pool, std::uint64_t from, std::size_t records_max) {
  return store_.read(pool, from, records_max);
}

Result<std::optional<Record>> LogInMemory::find(std::string_view pool, const Uuid& id) { return store_.find(pool, id); }
Result<std::vector<PoolPosition>> LogInMemory::pools() { return store_.pools(); }

Status LogInMemory::keep_snapshot(std::string_view pool, SnapshotToKeep snapshot, const Pause&) {
  StoredSnapshot whole{.offset = snapshot.offset};
  for (const std::string& piece : snapshot.pieces) whole.bytes += piece;
  whole.digest = snapshot.digest.value_or(digest_of(whole.bytes));
  return store_.keep_snapshot(pool, whole);
}

Result<std::optional<StoredSnapshot>> LogInMemory::latest_snapshot(std::string_view pool, std::uint64_t at_or_before) {
  return store_.latest_snapshot(pool, at_or_before);
}

Result<std::vector<std::uint64_t>> LogInMemory::snapshots(std::string_view pool) { return store_.snapshots(pool); }

Status LogInMemory::compact(std::string_view pool, std::uint64_t before, AuditKept kept) { return store_.compact(pool, before, kept); }
Result<std::vector<Erasure>> LogInMemory::erase(std::span<const ErasureWanted> wanted) { return store_.erase(wanted); }

Status MemoryLog::writable() { return queue_.writable(); }

LogFigures MemoryLog::figures() const {
  LogFigures figures = queue_.figures();
  figures.stored_bytes = store_.stored_bytes();
  return figures;
}

void MemoryLog::flush() { queue_.flush(); }
void MemoryLog::close() { queue_.close(); }

}  // namespace margin
