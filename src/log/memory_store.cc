#include "log/memory_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "log/codec.h"
#include "log/erasure.h"
#include "log/limits.h"

namespace margin::internal {

std::uint64_t MemoryStore::append(std::string_view pool, const Uuid& id, std::string bytes) {
  const std::lock_guard lock(mutex_);
  auto found = partitions_.find(pool);
  if (found == partitions_.end()) found = partitions_.emplace(pool, Partition{}).first;
  Partition& partition = found->second;
  const std::uint64_t offset = partition.next();
  bytes_ += bytes.size();
  partition.records.push_back(std::move(bytes));
  partition.offsets.emplace(id, offset);
  return offset;
}

Result<std::vector<Record>> MemoryStore::read(std::string_view pool, std::uint64_t from, std::size_t records_max) const {
  const std::lock_guard lock(mutex_);
  std::vector<Record> records;
  const auto found = partitions_.find(pool);
  if (found == partitions_.end()) return records;
  const Partition& partition = found->second;
  if (Status status = check_read({std::string(pool), partition.first, partition.next()}, from); !status) return status.error();
  std::size_t bytes = 0;
  for (std::uint64_t offset = from; offset < partition.next(); ++offset) {
    if (records.size() == std::min(records_max, kReadRecordsMax) || bytes >= kReadBytesMax) break;
    const std::string& stored = partition.records[static_cast<std::size_t>(offset - partition.first)];
    bytes += stored.size();
    Result<Record> record = decode(stored, pool, offset);
    if (!record) return record.error();
    records.push_back(std::move(record).value());
  }
  return records;
}

Result<std::optional<Record>> MemoryStore::find(std::string_view pool, const Uuid& id) const {
  const std::lock_guard lock(mutex_);
  const auto partition = partitions_.find(pool);
  if (partition == partitions_.end()) return std::optional<Record>();
  const auto& [first, records, offsets, audit, snapshots] = partition->second;
  const auto offset = offsets.find(id);
  if (offset == offsets.end()) return std::optional<Record>();
  const std::string* stored = nullptr;
  if (offset->second >= first) {
    stored = &records[static_cast<std::size_t>(offset->second - first)];
  } else if (const auto kept = audit.find(offset->second); kept != audit.end()) {
    stored = &kept->second;
  } else {
    return std::optional<Record>();
  }
  Result<Record> record = decode(*stored, pool, offset->second);
  if (!record) return record.error();
  return std::optional<Record>(std::move(record).value());
}

std::vector<PoolPosition> MemoryStore::pools() const {
  const std::lock_guard lock(mutex_);
  std::vector<PoolPosition> pools;
  for (const auto& [name, partition] : partitions_) pools.push_back({name, partition.first, partition.next()});
  return pools;
}

Status MemoryStore::keep_snapshot(std::string_view pool, const StoredSnapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  const auto found = partitions_.find(pool);
  if (found == partitions_.end()) return check_snapshot({std::string(pool), 0, 0}, snapshot);
  Partition& partition = found->second;
  if (Status status = check_snapshot({std::string(pool), partition.first, partition.next()}, snapshot); !status) return status;
  partition.snapshots.insert_or_assign(snapshot.offset, snapshot);
  // Neither this one nor, where events are compacted away, the earliest: no fold could reach what came between them.
  auto oldest = partition.snapshots.begin();
  if (partition.first > 0) ++oldest;
  while (partition.snapshots.size() > snapshots_kept_ && oldest != partition.snapshots.end()) {
    oldest = oldest->first == snapshot.offset ? std::next(oldest) : partition.snapshots.erase(oldest);
  }
  return {};
}

std::optional<StoredSnapshot> MemoryStore::latest_snapshot(std::string_view pool, std::uint64_t at_or_before) const {
  const std::lock_guard lock(mutex_);
  const auto partition = partitions_.find(pool);
  if (partition == partitions_.end()) return std::nullopt;
  const auto& snapshots = partition->second.snapshots;
  const auto after = snapshots.upper_bound(at_or_before);
  if (after == snapshots.begin()) return std::nullopt;
  return std::prev(after)->second;
}

std::vector<std::uint64_t> MemoryStore::snapshots(std::string_view pool) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> offsets;
  const auto partition = partitions_.find(pool);
  if (partition == partitions_.end()) return offsets;
  for (const auto& [offset, snapshot] : partition->second.snapshots) offsets.push_back(offset);
  return offsets;
}

Status MemoryStore::compact(std::string_view pool, std::uint64_t before, AuditKept kept) {
  const std::lock_guard lock(mutex_);
  const auto found = partitions_.find(pool);
  if (found == partitions_.end()) return check_compaction(pool, before, std::nullopt);
  Partition& partition = found->second;
  const auto latest = partition.snapshots.empty() ? std::nullopt : std::optional(partition.snapshots.rbegin()->first);
  if (Status status = check_compaction(pool, before, latest); !status) return status;
  for (; partition.first < before; ++partition.first) {
    Result<std::string> rest = audited(partition.records.front(), pool, partition.first, kept);
    if (!rest) return rest.error();
    bytes_ -= partition.records.front().size();
    partition.records.pop_front();
    if (rest->empty()) continue;
    bytes_ += rest->size();
    partition.audit.emplace(partition.first, std::move(rest).value());
  }
  std::erase_if(partition.offsets,
                [&partition](const auto& entry) { return entry.second < partition.first && !partition.audit.contains(entry.second); });
  partition.snapshots.erase(partition.snapshots.begin(), partition.snapshots.lower_bound(partition.first));
  return {};
}

Result<std::vector<Erasure>> MemoryStore::erase(std::span<const ErasureWanted> wanted) {
  const std::lock_guard lock(mutex_);
  TextEraser eraser(wanted);
  for (auto& [name, partition] : partitions_) {
    if (!eraser.concerns(name)) continue;
    const auto erase = [&, &pool = name](std::string& record, std::uint64_t offset, TextEraser::Folded folded) -> Status {
      bytes_ -= record.size();
      const Result<bool> erased = eraser.erase(record, pool, offset, folded);
      bytes_ += record.size();
      return erased ? Status() : Status(erased.error());
    };
    for (std::uint64_t i = 0; i < partition.records.size(); ++i) {
      if (Status status = erase(partition.records[i], partition.first + i, TextEraser::Folded::kStill); !status) return status.error();
    }
    for (auto& [offset, record] : partition.audit) {
      if (Status status = erase(record, offset, TextEraser::Folded::kNoLonger); !status) return status.error();
    }
  }
  return std::move(eraser).erased();
}

std::uint64_t MemoryStore::stored_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace margin::internal
