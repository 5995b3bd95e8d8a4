// MemoryLog: an EventLog that forgets when the process ends. For tests, and for servers that are meant to forget.
#pragma once

#include <memory>

#include "log/commit_queue.h"
#include "log/event_log.h"
#include "log/memory_store.h"

namespace margin {

struct MemoryLogOptions {
  QueueLimits queue{};
  std::size_t snapshots_kept = 4;
};

// The part of a log that a MemoryStore answers.
class LogInMemory : public EventLog {
 public:
  explicit LogInMemory(std::size_t snapshots_kept) : store_(snapshots_kept) {}

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

 protected:
  internal::MemoryStore store_;
};

class MemoryLog : public LogInMemory {
 public:
  explicit MemoryLog(const MemoryLogOptions& options = {});
  ~MemoryLog() override { queue_.close(); }

  [[nodiscard]] Status append(const Entry& entry, Acknowledge acknowledge) override;
  [[nodiscard]] Status append_together(std::span<Grouped> group) override;
  void cork() override;
  void uncork() override;
  void on_commit(std::function<void()> listener) override;
  [[nodiscard]] Status writable() override;
  [[nodiscard]] LogFigures figures() const override;
  void flush() override;
  void close() override;

 private:
  void store(std::span<internal::Waiting> batch);

  internal::CommitQueue queue_;  // after the store, which its thread writes to
};

}  // namespace margin
