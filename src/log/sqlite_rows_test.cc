// Rows of several events: they are read, found, compacted and erased one by one all the same, and stores of before are taken over.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "log/recovery.h"
#include "log/sqlite_log_fixture.h"
#include "log/stored_row.h"

namespace margin {
namespace {

class SqliteRowsTest : public SqliteLogFixture {
 protected:
  // As many rows as numbers, each of so many events.
  void append_in(const std::vector<std::uint64_t>& rows) {
    std::uint64_t first = 0;
    for (const std::uint64_t count : rows) {
      append(first, first + count);
      first += count;
    }
  }
  void expect_all(std::uint64_t first, std::uint64_t next) {
    for (std::uint64_t from = first; from < next; ++from) {
      const auto records = log_->read("p", from, 1000);
      ASSERT_TRUE(records.ok()) << records.error().message;
      ASSERT_EQ(records->size(), next - from);
      for (std::size_t i = 0; i < records->size(); ++i) {
        ASSERT_EQ((*records)[i].event, numbered_event(from + i));
        ASSERT_EQ((*records)[i].offset, from + i);
      }
      ASSERT_EQ(log_->read("p", from, 1)->size(), 1U);
      const auto found = log_->find("p", numbered_event(from).id);
      ASSERT_TRUE(found.ok() && found->has_value()) << from;
      ASSERT_EQ((*found)->offset, from);
    }
  }
  // The store as an older margin made it, whose records have rows and keys of their own: those of these ids.
  void make_layout_2(const std::vector<Uuid>& ids, int version = 2) {
    log_.reset();
    std::string statement = "BEGIN; DROP TABLE strays; ";
    for (std::size_t n = 0; n < ids.size(); ++n) {
      statement += "UPDATE events SET key = " + std::to_string(static_cast<std::int64_t>(ids[n].high)) +
                   " WHERE row & 0xffffffffff = " + std::to_string(n) + "; ";
    }
    sql(statement + "CREATE INDEX events_by_key ON events (key); PRAGMA user_version = " + std::to_string(version) + "; COMMIT");
  }
  std::string rows() { return value_of("SELECT count(*) FROM events"); }
};

TEST_F(SqliteRowsTest, EventsThatAreCarriedOverTogetherShareARow) {
  open();
  append_in({1, 5, 1, 1, 20, 2});
  EXPECT_EQ(rows(), "6");
  EXPECT_EQ(value_of("SELECT count(*) FROM strays"), "0");
  expect_all(0, 30);
  open();
  expect_all(0, 30);
  EXPECT_TRUE(verify(*log_)->sound());
}

TEST_F(SqliteRowsTest, PoolsHaveRowsOfTheirOwn) {
  open();
  log_->cork();
  for (std::uint64_t n = 0; n < 12; ++n) {
    const std::string pool = n % 3 == 0 ? "a" : "b";
    ASSERT_TRUE(log_->append({.pool = pool, .event = numbered_event(n)}, {}).ok());
  }
  log_->flush();
  ASSERT_TRUE(log_->settle().ok());
  EXPECT_EQ(rows(), "2");
  EXPECT_EQ(log_->read("a", 0, 100)->size(), 4U);
  EXPECT_EQ(log_->read("b", 5, 100)->at(0).event, numbered_event(8));
  EXPECT_EQ(log_->find("b", numbered_event(8).id).value()->offset, 5U);
  EXPECT_FALSE(log_->find("a", numbered_event(8).id).value().has_value());
}

TEST_F(SqliteRowsTest, ManyEventsHaveSeveralRows) {
  open();
  log_->cork();
  constexpr std::uint64_t kEvents = 100;
  for (std::uint64_t n = 0; n < kEvents; ++n) {
    Event event = numbered_event(n);
    event.body = ModelJoined{.model = std::string(5'000, 'm') + std::to_string(n)};
    ASSERT_TRUE(log_->append({.pool = "p", .event = event}, {}).ok());
  }
  log_->flush();
  ASSERT_TRUE(log_->settle().ok());
  EXPECT_GE(std::stoul(rows()), 8U);
  EXPECT_LE(std::stoul(rows()), 20U);
  EXPECT_LE(std::stoul(value_of("SELECT max(length(record)) FROM events")), internal::kRowBytesMax);
  std::uint64_t next = 0;
  while (next < kEvents) next += log_->read("p", next, 7)->size();
  for (std::uint64_t n = 0; n < kEvents; ++n) ASSERT_EQ(log_->find("p", numbered_event(n).id).value()->offset, n);
}

// Ids of clients, of clocks that were set back, the same twice: whatever was appended first under an id is found.
TEST_F(SqliteRowsTest, EventsAreFoundWhateverTheirIdsAndWhateverTheirOrder) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    const std::string pool = "pool " + std::to_string(round);
    open();
    std::map<Uuid, std::uint64_t> first;
    std::vector<Uuid> ids;
    std::int64_t now = 1'700'000'000'000;
    while (ids.size() < 200) {
      log_->cork();
      for (std::uint64_t count = 1 + random.below(random.chance(0.5) ? 2 : 20); count > 0; --count) {
        now += static_cast<std::int64_t>(random.below(3)) - (random.chance(0.02) ? 50 : 0);
        Uuid id = Uuid::make(now, random);
        if (random.chance(0.1)) id = {random.bits(), random.bits()};
        if (random.chance(0.1) && !ids.empty()) id = ids[random.below(ids.size())];
        if (random.chance(0.1) && !ids.empty()) id = {ids.back().high, random.bits()};
        if (random.chance(0.02)) id = Uuid::make(now + 1'000'000'000, random);
        Event event = numbered_event(ids.size());
        event.id = id;
        event.time_ms = now;
        first.emplace(id, ids.size());
        ids.push_back(id);
        ASSERT_TRUE(log_->append({.pool = pool, .event = event}, {}).ok());
      }
      log_->flush();
      if (random.chance(0.5)) {
        ASSERT_TRUE(log_->settle().ok());
      }
    }
    const auto expect_found = [&](std::uint64_t from) {
      for (const auto& [id, offset] : first) {
        const auto found = log_->find(pool, id);
        ASSERT_TRUE(found.ok()) << found.error().message;
        if (offset < from) continue;
        ASSERT_TRUE(found->has_value()) << offset;
        ASSERT_EQ((*found)->offset, offset);
        ASSERT_EQ((*found)->event.id, id);
      }
      ASSERT_FALSE(log_->find(pool, {ids[100].high, 1}).value().has_value());
      ASSERT_FALSE(log_->find(pool, {0, 1}).value().has_value());
      ASSERT_FALSE(log_->find(pool, {~std::uint64_t{0}, 1}).value().has_value());
    };
    expect_found(0);
    open();
    expect_found(0);
    ASSERT_TRUE(log_->keep_snapshot(pool, {ids.size(), "state", digest_of("state")}).ok());
    ASSERT_TRUE(log_->compact(pool, 77, AuditKept::kNothing).ok());
    expect_found(77);
    ASSERT_TRUE(log_->check_file().ok());
  }
}

TEST_F(SqliteRowsTest, AnIdOfATimeToComeMakesNoStraysOfThoseAfterIt) {
  open();
  Random random(7);
  append(0, 5);
  Event event = numbered_event(5);
  event.id = Uuid::make(event.time_ms + 3'600'000, random);
  ASSERT_TRUE(append_now(*log_, "p", event).ok());
  ASSERT_TRUE(log_->settle().ok());
  append_singly(6, 20);
  EXPECT_EQ(value_of("SELECT count(*) FROM strays"), "1");
  EXPECT_EQ(log_->find("p", event.id).value()->offset, 5U);
  EXPECT_EQ(log_->find("p", numbered_event(13).id).value()->offset, 13U);
}

TEST_F(SqliteRowsTest, CompactionEndsWithinARow) {
  for (const AuditKept kept : {AuditKept::kNothing, AuditKept::kWithoutAnswers, AuditKept::kEverything}) {
    for (const std::uint64_t before : {1U, 3U, 9U, 10U, 11U, 29U, 30U}) {
      log_.reset();
      for (const char* suffix : {"", ".head"}) std::filesystem::remove(path() + suffix);
      open();
      append_in({10, 1, 19});
      ASSERT_TRUE(log_->keep_snapshot("p", {30, "state", digest_of("state")}).ok());
      ASSERT_TRUE(log_->compact("p", before, kept).ok());
      expect_all(before, 30);
      EXPECT_EQ(log_->find("p", numbered_event(0).id).value().has_value(), kept != AuditKept::kNothing);
      EXPECT_EQ(log_->read("p", before - 1, 1).error().code, ErrorCode::kNotFound);
      append(30, 33);
      expect_all(before, 33);
      open();
      expect_all(before, 33);
      EXPECT_TRUE(log_->check_file().ok());
    }
  }
}

TEST_F(SqliteRowsTest, AMissingRowIsFoundByItsFirstOffset) {
  open();
  append_in({3, 4, 3});
  log_.reset();
  sql("DELETE FROM events WHERE row & 0xff = 6");
  open();
  EXPECT_EQ(log_->read("p", 0, 3)->size(), 3U);
  EXPECT_NE(log_->read("p", 0, 10).error().message.find("event 3 "), std::string::npos);
  EXPECT_NE(log_->read("p", 4, 10).error().message.find("event 4 "), std::string::npos);
}

TEST_F(SqliteRowsTest, AMovedRowIsFound) {
  open();
  append_in({3, 4, 3});
  log_.reset();
  sql("DELETE FROM events WHERE row & 0xff = 6; UPDATE events SET row = row - 3 WHERE row & 0xff = 9");
  open();
  EXPECT_EQ(log_->read("p", 0, 10).error().code, ErrorCode::kCorrupt);
}

TEST_F(SqliteRowsTest, AKeyThatFallsIsFound) {
  open();
  append_in({3, 4, 3});
  log_.reset();
  sql("UPDATE events SET key = key + 65536000 WHERE row & 0xff = 6");
  open();
  EXPECT_EQ(log_->check_file().error().code, ErrorCode::kCorrupt);
}

TEST_F(SqliteRowsTest, AStoreOfLayout2IsReadAsItIsAndTakenOver) {
  open();
  std::vector<Uuid> ids;
  Random random(6);
  for (std::uint64_t n = 0; n < 40; ++n) {
    Event event = numbered_event(n % 10 == 7 ? n - 5 : n);                  // the same again
    if (n % 10 == 4) event.id = {random.bits(), random.bits()};             // a client's
    if (n % 10 == 9) event.id = Uuid::make(event.time_ms - 5'000, random);  // of a clock that was set back
    ids.push_back(event.id);
    ASSERT_TRUE(append_now(*log_, "p", event).ok());
    ASSERT_TRUE(log_->settle().ok());
  }
  make_layout_2(ids);
  const auto expect_found = [&](EventLog& log) {
    EXPECT_GE(log.read("p", 0, 100)->size(), 40U);
    for (std::uint64_t n = 0; n < 40; ++n) {
      const auto found = log.find("p", ids[n]);
      ASSERT_TRUE(found.ok() && found->has_value()) << n;
      ASSERT_EQ((*found)->offset, n % 10 == 7 ? n - 5 : n);
    }
  };
  expect_found(*SqliteLog::look(path()).value());
  EXPECT_EQ(value_of("PRAGMA user_version"), "2");
  open();
  expect_found(*log_);
  append(40, 60);
  EXPECT_EQ(log_->find("p", numbered_event(50).id).value()->offset, 50U);
  expect_found(*log_);
  EXPECT_TRUE(log_->check_file().ok());
  log_.reset();
  EXPECT_EQ(value_of("PRAGMA user_version"), std::to_string(internal::kStoreFormat));
  EXPECT_EQ(value_of("SELECT count(*) FROM sqlite_schema WHERE name = 'events_by_key'"), "0");
  // No more strays than there must be.
  EXPECT_LE(std::stoi(value_of("SELECT count(*) FROM strays")), 12);
}

// Layout 1 wrote the ends of the pools with every commit; when it is closed there is no other difference to layout 2.
TEST_F(SqliteRowsTest, AStoreOfLayout1IsTakenOver) {
  open();
  append_singly(0, 5);
  std::vector<Uuid> ids;
  for (std::uint64_t n = 0; n < 5; ++n) ids.push_back(numbered_event(n).id);
  make_layout_2(ids, 1);
  EXPECT_EQ(SqliteLog::look(path()).value()->read("p", 0, 10)->size(), 5U);
  open();
  append(5, 8);
  expect_all(0, 8);
  log_.reset();
  EXPECT_EQ(value_of("PRAGMA user_version"), std::to_string(internal::kStoreFormat));
}

}  // namespace
}  // namespace margin
