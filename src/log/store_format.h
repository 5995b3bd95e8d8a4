// The SQLite file of an event log: its tables, its versions, its checksums. Shared by the reading and the writing side;
// docs/event_log.md describes the layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "log/sqlite.h"
#include "margin/digest.h"
#include "margin/result.h"
#include "margin/uuid.h"

namespace margin::internal {

// The newest layout that this binary reads and the one it writes.
inline constexpr std::int64_t kStoreFormat = 5;
// Until layout 2 each record had a row of its own. The tables of layout 3 are the newest; since layout 4 events may stand in files beside
// it (log/tail.h), and since layout 5 snapshots may be such as an older margin does not read (pool/record_encoding.h).
inline constexpr std::int64_t kSharedRowsSince = 3;

// The files that stand beside a store.
[[nodiscard]] inline std::string lock_path(const std::string& store) { return store + ".lock"; }
[[nodiscard]] inline std::string partial_path(const std::string& store) { return store + ".partial"; }  // while a copy is made
[[nodiscard]] inline std::string high_water_path(const std::string& store) { return store + ".head"; }

// A row of events is the number of their pool and the offset of the last of them, so that a pool's records lie side by side in their order.
inline constexpr int kOffsetBits = 40;
inline constexpr std::int64_t kPoolsMax = std::int64_t{1} << 22;
[[nodiscard]] inline std::int64_t row_of(std::int64_t pool, std::uint64_t offset) {
  return (pool << kOffsetBits) + static_cast<std::int64_t>(offset);
}
[[nodiscard]] inline std::int64_t pool_of(std::int64_t row) { return row >> kOffsetBits; }
[[nodiscard]] inline std::uint64_t offset_of(std::int64_t row) {
  return static_cast<std::uint64_t>(row) & ((std::uint64_t{1} << kOffsetBits) - 1);
}

// The first half of an id: of a UUIDv7 the half that grows with time. The key of a row is the largest of all its pool's records up to its
// end, so it never falls, and a record's row is found by halving. Records that do not exceed the key of the row before theirs are strays,
// which have a table; as are those whose id is of no time or of one to come, as clients may bring them: after it all others would be
// strays.
[[nodiscard]] inline std::int64_t key_of(const Uuid& id) { return static_cast<std::int64_t>(id.high); }
inline constexpr std::int64_t kAheadMsMax = 60'000;
[[nodiscard]] inline bool is_of_its_time(const Uuid& id, std::int64_t time_ms) {
  return key_of(id) >= 0 && id.time_ms() <= time_ms + kAheadMsMax;
}

// Each record carries a checksum of its bytes and of the checksum before it: a changed, missing, added or moved record breaks the chain at
// its offset. The chain of a pool starts from its name.
[[nodiscard]] std::uint64_t chain_start(std::string_view pool);
[[nodiscard]] std::uint64_t chain_next(std::uint64_t before, std::string_view record);

// The pools as they are: name, pool, first, next, base, head, and the key of their last row if they have one. A commit writes events alone,
// so `next` and `head` of the table are those of the last compaction or close, and what was appended since tells the rest. Where events of
// before that are gone, they stay missing.
static_assert(kOffsetBits == 40, "the number stands in the statement too");
inline constexpr const char* kPartitions =
    "SELECT name, pools.pool AS pool, first, base, "
    "CASE WHEN events.row >= (pools.pool << 40) + next THEN events.row - (pools.pool << 40) + 1 ELSE next END AS next, "
    "CASE WHEN events.row >= (pools.pool << 40) + next THEN chain ELSE head END AS head, key FROM pools LEFT JOIN events "
    "ON events.row = (SELECT max(row) FROM events WHERE row >= pools.pool << 40 AND row < (pools.pool + 1) << 40)";

// For a database that is not a store of ours, or one of a newer layout: kCorrupt, kUnsupported. True: an empty database, also where the
// making of a store was cut off.
[[nodiscard]] Result<bool> check_format(Database& database);
// Makes an older store one of this layout, wholly or not at all.
[[nodiscard]] Status upgrade(Database& database);
// Lets statements for this layout read an older store through the connection.
[[nodiscard]] Status read_as_newest(Database& database);
// Makes the tables in an empty database.
[[nodiscard]] Status make_tables(Database& database);
// What the store says of itself: its name, which tells it and its copies from all others, and how many events it has had.
struct Contents {
  Digest name;
  std::uint64_t records = 0;
};
[[nodiscard]] Result<Contents> contents_of(Database& database);

}  // namespace margin::internal
