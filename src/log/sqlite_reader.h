// SqliteReader: the reading side of a store. SqliteLog answers its readers with it, beside the thread that writes.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/event_log.h"
#include "log/sqlite.h"
#include "margin/result.h"
#include "margin/uuid.h"

namespace margin::internal {

// The functions of EventLog of the same names; any thread, one at a time. Sees what is committed. Every record is held against its
// checksum before it is decoded.
class SqliteReader {
 public:
  // kNotFound, kCorrupt, kUnsupported, kUnavailable: not a store that can be read.
  [[nodiscard]] Status open(const std::string& path, std::chrono::milliseconds busy_wait);
  void close();

  // The name of the store, which tells it and its copies from all others.
  [[nodiscard]] const Digest& store() const { return store_; }
  // Whether open() was refused because nothing is in it.
  [[nodiscard]] bool empty() const { return empty_; }

  // `bytes`: of the records.
  [[nodiscard]] Result<std::vector<Record>> read(std::string_view pool, std::uint64_t from, std::size_t records_max, std::size_t& bytes);
  [[nodiscard]] Result<std::optional<Record>> find(std::string_view pool, const Uuid& id);
  [[nodiscard]] Result<std::vector<PoolPosition>> pools();
  [[nodiscard]] Result<std::optional<StoredSnapshot>> latest_snapshot(std::string_view pool, std::uint64_t at_or_before);
  [[nodiscard]] Result<std::vector<std::uint64_t>> snapshots(std::string_view pool);

  // Copies the whole store, as it is at this moment, into the new file `target`.
  [[nodiscard]] Status copy_to(const std::string& target);
  // Looks through the whole file: its pages, its indexes, the audit's checksums. kCorrupt with the first thing found. The chains of events
  // are checked by reading them.
  [[nodiscard]] Status check_file();

 private:
  struct Partition {
    std::int64_t number = 0;
    std::string name;
    std::uint64_t first = 0;
    std::uint64_t next = 0;
    std::uint64_t base = 0;
    std::uint64_t head = 0;
  };

  // Nothing for an unknown pool.
  Result<std::optional<Partition>> partition(std::string_view pool);
  // The chain before the record at `offset`.
  Result<std::uint64_t> chain_before(const Partition& partition, std::uint64_t offset);
  Result<std::optional<Record>> find_retained(const Partition& partition, const Uuid& id);
  // Whether records can be found by their keys, which never fall from row to row.
  Status check_keys();
  // The first row of the pool whose key is at least `key`, or its end.
  Result<std::int64_t> row_by_key(const Partition& partition, std::int64_t key);
  // In the row at or after `at`.
  Result<std::optional<Record>> find_in_row(const Partition& partition, std::int64_t at, const Uuid& id);
  Result<std::optional<Record>> find_audited(const Partition& partition, const Uuid& id);

  std::mutex mutex_;
  Database database_;
  Digest store_{};
  bool empty_ = false;
  Statement begin_;
  Statement end_;
  Statement select_pool_;
  Statement select_pools_;
  Statement select_chain_;
  Statement select_rows_;
  Statement select_key_;
  Statement select_strays_;
  Statement select_audit_by_key_;
  Statement select_snapshot_;
  Statement select_parts_;
  Statement select_snapshots_;
};

}  // namespace margin::internal
