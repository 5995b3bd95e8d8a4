#include "log/store_format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string>

namespace margin::internal {
namespace {

// "MRGN": tells this file from other programs' databases.
constexpr std::int64_t kApplication = 0x4d52474e;

// `key` is the first half of the event's id: of a UUIDv7 the half that grows with time, so the index grows at its end.
// pools.base and pools.head are the chain before the first retained record and after the last; kPartitions says how old `head` may be.
constexpr const char* kTables = R"(
  CREATE TABLE store (name BLOB NOT NULL);
  INSERT INTO store VALUES (randomblob(16));
  CREATE TABLE pools (pool INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, first INTEGER NOT NULL, next INTEGER NOT NULL,
                      base INTEGER NOT NULL, head INTEGER NOT NULL);
  CREATE TABLE events (row INTEGER PRIMARY KEY, key INTEGER NOT NULL, chain INTEGER NOT NULL, record BLOB NOT NULL);
  CREATE INDEX events_by_key ON events (key);
  CREATE TABLE audit (row INTEGER PRIMARY KEY, key INTEGER NOT NULL, checksum INTEGER NOT NULL, record BLOB NOT NULL);
  CREATE INDEX audit_by_key ON audit (key);
  CREATE TABLE snapshots (snapshot INTEGER PRIMARY KEY, pool INTEGER NOT NULL, offset INTEGER NOT NULL,
                          digest_high INTEGER NOT NULL, digest_low INTEGER NOT NULL, complete INTEGER NOT NULL);
  CREATE TABLE snapshot_parts (snapshot INTEGER NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL);
  CREATE UNIQUE INDEX snapshot_parts_in_order ON snapshot_parts (snapshot, part);
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
  return *version == kStoreFormat ? Status() : database.execute(stamp_format().c_str());
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
