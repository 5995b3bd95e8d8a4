#include "log/store_format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string>

namespace margin::internal {
namespace {

// "MRGN": tells this file from other programs' databases.
constexpr std::int64_t kApplication = 0x4d52474e;

// pools.base and pools.head are the chain before the first retained record and after the last; kPartitions says how old `head` may be.
constexpr const char* kTables = R"(
  CREATE TABLE store (name BLOB NOT NULL);
  INSERT INTO store VALUES (randomblob(16));
  CREATE TABLE pools (pool INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, first INTEGER NOT NULL, next INTEGER NOT NULL,
                      base INTEGER NOT NULL, head INTEGER NOT NULL);
  CREATE TABLE events (row INTEGER PRIMARY KEY, key INTEGER NOT NULL, chain INTEGER NOT NULL, record BLOB NOT NULL);
  CREATE TABLE strays (key INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (key, row)) WITHOUT ROWID;
  CREATE TABLE audit (row INTEGER PRIMARY KEY, key INTEGER NOT NULL, checksum INTEGER NOT NULL, record BLOB NOT NULL);
  CREATE INDEX audit_by_key ON audit (key);
  CREATE TABLE snapshots (snapshot INTEGER PRIMARY KEY, pool INTEGER NOT NULL, offset INTEGER NOT NULL,
                          digest_high INTEGER NOT NULL, digest_low INTEGER NOT NULL, complete INTEGER NOT NULL);
  CREATE TABLE snapshot_parts (snapshot INTEGER NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL);
  CREATE UNIQUE INDEX snapshot_parts_in_order ON snapshot_parts (snapshot, part);
)";

// Until layout 2 each record had a row of its own with its own key, and an index of the keys. Of its time is what is not of one to come:
// their own is in the records.
static_assert(kAheadMsMax == 60'000, "the number stands in the statement too");
constexpr const char* kFromLayout2 = R"(
  CREATE TABLE strays (key INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (key, row)) WITHOUT ROWID;
  CREATE TEMP TABLE late AS
    WITH ids AS (SELECT row, key, CASE WHEN key >= 0 AND key >> 16 <= unixepoch() * 1000 + 60000 THEN key END AS own FROM events),
         places AS (SELECT row, key, own, coalesce(max(own) OVER (PARTITION BY row >> 40 ORDER BY row
                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), -9223372036854775807 - 1) AS largest FROM ids)
    SELECT row, key, largest FROM places WHERE own IS NULL OR own <= largest;
  DROP INDEX events_by_key;
  INSERT INTO strays SELECT key, row FROM late;
  UPDATE events SET key = late.largest FROM late WHERE events.row = late.row;
  DROP TABLE temp.late;
)";

std::string stamp_format() { return "PRAGMA user_version = " + std::to_string(kStoreFormat); }

}  // namespace

std::uint64_t chain_start(std::string_view pool) { return XXH3_64bits(pool.data(), pool.size()); }

std::uint64_t chain_next(std::uint64_t before, std::string_view record) {
  return XXH3_64bits_withSeed(record.data(), record.size(), before);
}

Result<bool> check_format(Database& database) {
  const Result<std::int64_t> pages = database.integer("PRAGMA page_count");
  if (!pages) return pages.error();
  if (*pages == 0) return true;
  const Result<std::int64_t> application = database.integer("PRAGMA application_id");
  if (!application) return application.error();
  const Result<std::int64_t> tables = database.integer("SELECT count(*) FROM sqlite_master");
  if (!tables) return tables.error();
  // Its journal was set up, and whoever made it got no further.
  if (*application == 0 && *tables == 0) return true;
  if (*application != kApplication) return {ErrorCode::kCorrupt, "this database is not an event log of margin"};
  const Result<std::int64_t> version = database.integer("PRAGMA user_version");
  if (!version) return version.error();
  if (*version > kStoreFormat) {
    return {ErrorCode::kUnsupported, "the store has layout " + std::to_string(*version) + ", this binary reads up to " +
                                         std::to_string(kStoreFormat) + ": it needs a newer margin"};
  }
  return false;
}

Status upgrade(Database& database) {
  const Result<std::int64_t> version = database.integer("PRAGMA user_version");
  if (!version) return version.error();
  if (*version == kStoreFormat) return {};
  Transaction transaction(database);
  Status status = transaction.begin();
  if (status.ok() && *version < kSharedRowsSince) status = database.execute(kFromLayout2);
  if (status.ok()) status = database.execute(stamp_format().c_str());
  if (status.ok()) status = transaction.commit();
  return status;
}

Status read_as_newest(Database& database) {
  const Result<std::int64_t> version = database.integer("PRAGMA user_version");
  if (!version) return version.error();
  if (*version >= kSharedRowsSince) return {};
  // Whatever key halving ends at, all records can be found as strays are.
  return database.execute("CREATE TEMP VIEW strays AS SELECT key, row FROM events");
}

Status make_tables(Database& database) {
  Transaction transaction(database);
  if (Status status = transaction.begin(); !status) return status;
  const std::string stamp = "PRAGMA application_id = " + std::to_string(kApplication) + "; " + stamp_format();
  if (Status status = database.execute(stamp.c_str()); !status) return status;
  if (Status status = database.execute(kTables); !status) return status;
  return transaction.commit();
}

Result<Contents> contents_of(Database& database) {
  Statement statement;
  const std::string sql = std::string("SELECT name, (SELECT coalesce(sum(next), 0) FROM (") + kPartitions + ")) FROM store";
  if (Status status = database.prepare(statement, sql.c_str()); !status) return status.error();
  Execution row = statement();
  const Result<bool> found = row.next();
  if (!found) return found.error();
  if (!*found) return {ErrorCode::kCorrupt, "the store is damaged: it has no name"};
  return Contents{digest_of(row.bytes(0)), row.bits(1)};
}

}  // namespace margin::internal
