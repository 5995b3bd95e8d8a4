// MemoryStore: what a log keeps, kept in memory. MemoryLog puts a queue before it, SimulatedLog a seed's worth of faults.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/event_log.h"
#include "margin/result.h"
#include "margin/uuid.h"

namespace margin::internal {

// The functions of EventLog of the same names; any thread.
class MemoryStore {
 public:
  explicit MemoryStore(std::size_t snapshots_kept) : snapshots_kept_(snapshots_kept) {}

  // Appends an encoded record and returns its offset.
  std::uint64_t append(std::string_view pool, const Uuid& id, std::string bytes);

  Result<std::vector<Record>> read(std::string_view pool, std::uint64_t from, std::size_t records_max) const;
  Result<std::optional<Record>> find(std::string_view pool, const Uuid& id) const;
  std::vector<PoolPosition> pools() const;
  Status keep_snapshot(std::string_view pool, const StoredSnapshot& snapshot);
  std::optional<StoredSnapshot> latest_snapshot(std::string_view pool, std::uint64_t at_or_before) const;
  std::vector<std::uint64_t> snapshots(std::string_view pool) const;
  Status compact(std::string_view pool, std::uint64_t before, AuditKept kept);
  Result<std::vector<Erasure>> erase(std::span<const ErasureWanted> wanted);
  std::uint64_t stored_bytes() const;

 private:
  struct Partition {
    std::uint64_t first = 0;
    std::deque<std::string> records;
    std::map<Uuid, std::uint64_t> offsets;       // of the first event with an id
    std::map<std::uint64_t, std::string> audit;  // compacted records, by offset
    std::map<std::uint64_t, StoredSnapshot> snapshots;

    [[nodiscard]] std::uint64_t next() const { return first + records.size(); }
  };

  const std::size_t snapshots_kept_;
  mutable std::mutex mutex_;
  std::map<std::string, Partition, std::less<>> partitions_;
  std::uint64_t bytes_ = 0;
};

}  // namespace margin::internal
