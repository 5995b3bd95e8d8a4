// What only the SQLite store promises: damage is found and named, unlucky operators are told, a failing disk loses nothing.
#include "log/sqlite_log.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "log/log_fixture.h"
#include "log/recovery.h"

namespace margin {
namespace {

using std::filesystem::copy_file;
using std::filesystem::copy_options;
using std::filesystem::remove;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SqliteLogTest : public testing::Test {
 protected:
  void open(const SqliteLogOptions& options = {}) {
    log_.reset();
    Result<std::unique_ptr<SqliteLog>> log = SqliteLog::open(path(), options);
    ASSERT_TRUE(log.ok()) << log.error().message;
    log_ = std::move(log).value();
  }
  Error refusal() {
    log_.reset();
    const Result<std::unique_ptr<SqliteLog>> log = SqliteLog::open(path());
    return log ? Error{ErrorCode::kConflict, "it opened"} : log.error();
  }
  void append(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t n = first; n < last; ++n) {
      const Status taken = log_->append({.pool = "p", .event = numbered_event(n)}, [n](const Result<std::uint64_t>& offset) {
        ASSERT_TRUE(offset.ok()) << offset.error().message;
        ASSERT_EQ(*offset, n);
      });
      ASSERT_TRUE(taken.ok()) << taken.error().message;
    }
    log_->flush();
  }
  // As a person with the sqlite3 program would.
  void sql(const std::string& statement) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, statement.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(handle);
  }
  // The store as kill -9 would leave it: with its journal.
  void crash() {
    for (const char* suffix : {"", "-wal", ".head"})
      copy_file(path() + suffix, folder_.file("crashed") + suffix, copy_options::overwrite_existing);
    log_.reset();
    for (const char* suffix : {"", "-wal", ".head"})
      copy_file(folder_.file("crashed") + suffix, path() + suffix, copy_options::overwrite_existing);
  }
  std::string path() const { return folder_.file("store.db"); }

  TemporaryFolder folder_;
  std::unique_ptr<SqliteLog> log_;
};

TEST_F(SqliteLogTest, ACrashedStoreHasEverythingThatWasAcknowledged) {
  open();
  append(0, 50);
  crash();
  open();
  EXPECT_EQ(log_->read("p", 0, 1000)->size(), 50);
  EXPECT_EQ(log_->warning(), "");
  append(50, 51);
}

TEST_F(SqliteLogTest, AStoreThatWasClosedIsOneFile) {
  open();
  append(0, 50);
  log_.reset();
  EXPECT_FALSE(std::filesystem::exists(path() + "-wal"));
}

TEST_F(SqliteLogTest, ASecondServerIsRefusedByTheNameOfTheFirst) {
  open();
  const Result<std::unique_ptr<SqliteLog>> second = SqliteLog::open(path());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(second.error().message.find("process " + std::to_string(getpid())), std::string::npos) << second.error().message;
  log_.reset();
  EXPECT_TRUE(SqliteLog::open(path()).ok());
}

TEST_F(SqliteLogTest, OneMayLookBesideAServerButNotWrite) {
  open();
  append(0, 3);
  const auto look = SqliteLog::look(path()).value();
  EXPECT_EQ(look->read("p", 0, 10)->size(), 3);
  append(3, 4);
  EXPECT_EQ(look->read("p", 0, 10)->size(), 4);
  EXPECT_EQ(look->append({.pool = "p", .event = numbered_event(9)}, {}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(look->compact("p", 0, AuditKept::kNothing).error().code, ErrorCode::kUnavailable);
}

TEST_F(SqliteLogTest, AFlippedByteOfARecordIsFoundByItsOffset) {
  open();
  append(0, 100);
  log_.reset();
  std::string bytes = content_of(path());
  const std::size_t at = bytes.find("model 57");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 6] = '6';
  std::ofstream(path(), std::ios::binary) << bytes;
  open();
  EXPECT_EQ(log_->read("p", 0, 57)->size(), 57);
  const auto damaged = log_->read("p", 0, 100);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(damaged.error().message.find("event 57"), std::string::npos) << damaged.error().message;
  EXPECT_FALSE(log_->find("p", numbered_event(57).id).ok());
  const Result<RecoveredPool> recovered = recover(*log_, "p");
  ASSERT_FALSE(recovered.ok());
  EXPECT_EQ(recovered.error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(verify(*log_)->sound());
}

TEST_F(SqliteLogTest, AMissingRecordIsFoundByItsOffset) {
  open();
  append(0, 10);
  log_.reset();
  sql("DELETE FROM events WHERE row & 0xff = 4");
  open();
  EXPECT_NE(log_->read("p", 0, 10).error().message.find("event 4"), std::string::npos);
}

TEST_F(SqliteLogTest, AMissingEndIsFound) {
  open();
  append(0, 10);
  log_.reset();
  sql("DELETE FROM events WHERE row & 0xff = 9");
  open();
  EXPECT_EQ(log_->read("p", 0, 9)->size(), 9);
  EXPECT_NE(log_->read("p", 0, 10).error().message.find("event 9"), std::string::npos);
}

TEST_F(SqliteLogTest, SwappedRecordsAreFound) {
  open();
  append(0, 10);
  log_.reset();
  sql("UPDATE events SET row = -1 WHERE row & 0xff = 3; UPDATE events SET row = row - 1 WHERE row & 0xff = 4; "
      "UPDATE events SET row = (SELECT max(row) - 5 FROM events) WHERE row = -1");
  open();
  EXPECT_NE(log_->read("p", 0, 10).error().message.find("event 3"), std::string::npos);
}

TEST_F(SqliteLogTest, AFlippedByteInTheJournalIsFoundAlthoughSqliteDropsWhatFollows) {
  open();
  append(0, 50);
  crash();
  std::string journal = content_of(path() + "-wal");
  journal[journal.size() / 2] ^= 1;
  std::ofstream(path() + "-wal", std::ios::binary) << journal;
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_NE(error.message.find("50 events were acknowledged"), std::string::npos) << error.message;
}

TEST_F(SqliteLogTest, ALongJournalIsCarriedOverBesideTheCommits) {
  open();
  append(0, 1);
  const std::string bytes(std::size_t{12} << 20, 's');
  ASSERT_TRUE(log_->keep_snapshot("p", {.offset = 1, .bytes = bytes, .digest = digest_of(bytes)}).ok());
  const auto carried = bytes.size() / 2;  // the rest is too little to be worth while
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::filesystem::file_size(path()) < carried && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(std::filesystem::file_size(path()), carried);
}

TEST_F(SqliteLogTest, AMissingJournalIsFound) {
  open();
  append(0, 50);
  crash();
  remove(path() + "-wal");
  EXPECT_EQ(refusal().code, ErrorCode::kCorrupt);
}

TEST_F(SqliteLogTest, ATornEndOfTheJournalThatNobodyWasToldOfIsNoDamage) {
  open();
  append(0, 50);
  crash();
  std::ofstream(path() + "-wal", std::ios::binary | std::ios::app) << std::string(3000, 'x');
  open();
  EXPECT_EQ(log_->read("p", 0, 100)->size(), 50);
}

TEST_F(SqliteLogTest, AnOldCopyInPlaceOfTheStoreIsRefusedUntilTheOperatorSaysSo) {
  open();
  append(0, 10);
  log_.reset();
  copy_file(path(), folder_.file("old"));
  open();
  append(10, 20);
  log_.reset();
  copy_file(folder_.file("old"), path(), copy_options::overwrite_existing);
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::kCorrupt);
  EXPECT_NE(error.message.find("20 events were acknowledged, and 10 are in it"), std::string::npos) << error.message;
  remove(path() + ".head");
  open();
  append(10, 11);
}

TEST_F(SqliteLogTest, WithDurabilityProcessALostEndIsAWarning) {
  open({.durability = Durability::kProcess});
  append(0, 10);
  append(10, 50);
  crash();
  std::filesystem::resize_file(path() + "-wal", std::filesystem::file_size(path() + "-wal") - 1);
  open({.durability = Durability::kProcess});
  EXPECT_NE(log_->warning().find("50 events were acknowledged"), std::string::npos) << log_->warning();
  const std::size_t left = log_->read("p", 0, 100)->size();
  EXPECT_GE(left, 10);
  EXPECT_LT(left, 50);
}

TEST_F(SqliteLogTest, AnEmptyFileInPlaceOfTheStoreIsRefused) {
  open();
  append(0, 5);
  log_.reset();
  std::filesystem::resize_file(path(), 0);
  EXPECT_EQ(refusal().code, ErrorCode::kCorrupt);
}

// Layout 1 wrote the ends of the pools with every commit; when it is closed there is no difference but the number.
TEST_F(SqliteLogTest, AStoreOfLayout1IsTakenOverAndNoLongerForAnOlderMargin) {
  open();
  append(0, 5);
  log_.reset();
  sql("PRAGMA user_version = 1");
  EXPECT_EQ(SqliteLog::look(path()).value()->read("p", 0, 10)->size(), 5);
  open();
  append(5, 8);
  EXPECT_EQ(log_->read("p", 0, 10)->size(), 8);
  log_.reset();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &handle), SQLITE_OK);
  const auto version = [](void* found, int, char** values, char**) {
    *static_cast<std::string*>(found) = values[0];
    return 0;
  };
  std::string found;
  EXPECT_EQ(sqlite3_exec(handle, "PRAGMA user_version", version, &found, nullptr), SQLITE_OK);
  EXPECT_EQ(found, "2");
  sqlite3_close(handle);
}

TEST_F(SqliteLogTest, AStoreOfANewerMarginIsRefusedByName) {
  open();
  log_.reset();
  sql("PRAGMA user_version = 3");
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_NE(error.message.find("layout 3"), std::string::npos);
  EXPECT_NE(error.message.find("newer margin"), std::string::npos);
  EXPECT_EQ(SqliteLog::look(path()).error().code, ErrorCode::kUnsupported);
}

TEST_F(SqliteLogTest, AnotherProgramsDatabaseIsRefused) {
  sql("CREATE TABLE t (x)");
  EXPECT_EQ(refusal().code, ErrorCode::kCorrupt);
  std::ofstream(path(), std::ios::binary) << std::string(5000, 'x');
  EXPECT_EQ(refusal().code, ErrorCode::kCorrupt);
}

TEST_F(SqliteLogTest, NoSuchFolder) {
  const auto log = SqliteLog::open(folder_.file("absent/store.db"));
  EXPECT_EQ(log.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(SqliteLog::look(folder_.file("absent.db")).error().code, ErrorCode::kNotFound);
}

TEST_F(SqliteLogTest, AFullDiskFailsTheAppendAndWorksAgainWhenThereIsRoom) {
  open({.queue = {.probe_interval = std::chrono::milliseconds(5)}});
  append(0, 10);
  log_.reset();
  // The store's own bound on its pages stands in for the disk's: SQLite answers both alike.
  open({.durability = Durability::kProcess, .queue = {.probe_interval = std::chrono::milliseconds(5)}, .pages_max = 20});
  std::uint64_t stored = 10;
  Result<std::uint64_t> last = 0;
  while (stored < 2'000 && (last = append_now(*log_, "p", numbered_event(stored))).ok()) ++stored;
  ASSERT_FALSE(last.ok());
  EXPECT_EQ(last.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(last.error().message.find("full"), std::string::npos);
  EXPECT_FALSE(log_->writable().ok());
  EXPECT_EQ(log_->pools()->front().next, stored);
  EXPECT_EQ(log_->read("p", 0, 10'000)->size(), stored) << "nothing is half-written";
  open();
  append(stored, stored + 10);
  EXPECT_TRUE(log_->writable().ok());
}

TEST_F(SqliteLogTest, ALockedStoreFailsTheAppendAndIsWritableAgainByItself) {
  open({.queue = {.probe_interval = std::chrono::milliseconds(5)}, .busy_wait = std::chrono::milliseconds(10)});
  append(0, 3);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const Result<std::uint64_t> refused = append_now(*log_, "p", numbered_event(3));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("locked"), std::string::npos);
  EXPECT_FALSE(log_->writable().ok());
  sqlite3_close(other);
  for (int i = 0; i < 2'000 && !log_->writable().ok(); ++i) usleep(5'000);
  EXPECT_TRUE(log_->writable().ok());
  append(3, 5);
}

std::atomic<int> disk_failures = 0;

TEST_F(SqliteLogTest, AnEventThatTheDiskDidNotTakeIsNotAcknowledgedNorAnyBehindItBeforeTheJournalIsCarriedOver) {
  open({.queue = {.probe_interval = std::chrono::hours(1)}, .put_on_disk = [](int file) {
          if (disk_failures == 0) return fdatasync(file);
          --disk_failures;
          errno = EIO;
          return -1;
        }});
  append(0, 3);
  disk_failures = 1;
  const Result<std::uint64_t> failed = append_now(*log_, "p", numbered_event(3));
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(failed.error().message.find("the disk does not take"), std::string::npos);
  EXPECT_FALSE(log_->writable().ok());
  // It is in the journal of this process, so the next has a later place.
  EXPECT_EQ(append_now(*log_, "p", numbered_event(4)).value(), 4);
  EXPECT_TRUE(log_->writable().ok());
  EXPECT_EQ(disk_failures, 0);
  // As if the machine had stopped, and the disk had kept nothing of the journal from where it failed.
  std::filesystem::copy_file(path(), folder_.file("disk"));
  EXPECT_EQ(SqliteLog::look(folder_.file("disk")).value()->read("p", 0, 10)->size(), 4);
}

TEST_F(SqliteLogTest, AnInterruptedSnapshotLeavesNothing) {
  open();
  append(0, 5);
  log_.reset();
  sql("INSERT INTO snapshots VALUES (7, 1, 5, 0, 0, 0); INSERT INTO snapshot_parts VALUES (7, 0, 'half')");
  open();
  EXPECT_FALSE(log_->latest_snapshot("p").value().has_value());
  log_.reset();
  sql("CREATE TABLE empty (x CHECK (x IS NULL)); INSERT INTO empty SELECT 1 FROM snapshot_parts");
}

TEST_F(SqliteLogTest, ADamagedSnapshotIsFoundAndRecoveryGoesRoundIt) {
  open();
  LivePool live(*log_, "p");
  live.tasks(5);
  live.keep_snapshot();
  live.tasks(5);
  live.keep_snapshot();
  live.tasks(5);
  const Digest digest = live.pool().digest();
  log_.reset();
  sql("UPDATE snapshot_parts SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) || x'ff' AS BLOB) WHERE snapshot = 2");
  open();
  EXPECT_EQ(log_->latest_snapshot("p").error().code, ErrorCode::kCorrupt);
  const Result<RecoveredPool> recovered = recover(*log_, "p");
  ASSERT_TRUE(recovered.ok()) << recovered.error().message;
  EXPECT_EQ(recovered->pool.digest(), digest);
  EXPECT_EQ(recovered->from, 10);
  ASSERT_EQ(recovered->findings.size(), 1);
  EXPECT_NE(recovered->findings[0].find("snapshot at 20"), std::string::npos);
}

TEST_F(SqliteLogTest, ASnapshotBeyondTheLogIsRefusedByName) {
  open();
  append(0, 5);
  const std::string bytes = Pool().snapshot();
  ASSERT_TRUE(log_->keep_snapshot("p", {5, bytes, digest_of(bytes)}).ok());
  log_.reset();
  sql("UPDATE snapshots SET offset = 9");
  open();
  const Result<RecoveredPool> recovered = recover(*log_, "p");
  ASSERT_FALSE(recovered.ok());
  EXPECT_EQ(recovered.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(recovered.error().message.find("old log under a newer state"), std::string::npos);
}

TEST_F(SqliteLogTest, ABackupIsMadeWhileEventsAreAppended) {
  open();
  append(0, 10);
  std::atomic<bool> stop = false;
  std::thread appender([&] {
    for (std::uint64_t n = 10; !stop; ++n) ASSERT_TRUE(append_now(*log_, "p", numbered_event(n)).ok());
  });
  const auto look = SqliteLog::look(path()).value();
  const Status status = look->backup(folder_.file("backup.db"));
  stop = true;
  appender.join();
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(look->backup(folder_.file("backup.db")).error().code, ErrorCode::kConflict);
  const auto backup = SqliteLog::open(folder_.file("backup.db")).value();
  const std::uint64_t next = backup->pools()->front().next;
  EXPECT_GE(next, 10);
  EXPECT_TRUE(verify(*backup)->sound());
  EXPECT_EQ(verify(*backup)->pools[0].events, next);
  EXPECT_EQ(append_now(*backup, "p", numbered_event(9999)).value(), next);
}

TEST_F(SqliteLogTest, ABackupPutInPlaceOfALongerStoreIsItsNewTruth) {
  open();
  append(0, 10);
  ASSERT_TRUE(log_->backup(folder_.file("backup.db")).ok());
  append(10, 20);
  EXPECT_EQ(SqliteLog::restore(folder_.file("backup.db"), path()).error().code, ErrorCode::kUnavailable) << "a server has it";
  crash();
  ASSERT_TRUE(SqliteLog::restore(folder_.file("backup.db"), path()).ok());
  open();
  EXPECT_EQ(log_->read("p", 0, 100)->size(), 10);
  append(10, 12);
}

TEST_F(SqliteLogTest, CorkedAppendsShareOneCommit) {
  open({.durability = Durability::kDisk});
  append(0, 1);
  // The log's thread sleeps when nothing is being committed; awake it would take the next append at once.
  while (log_->figures().oldest.count() != 0) std::this_thread::yield();
  const std::uint64_t commits = log_->figures().commits;
  const auto append_and_wait_a_moment = [this](std::uint64_t n) {
    ASSERT_TRUE(log_->append({.pool = "p", .event = numbered_event(n)}, {}).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  log_->cork();
  for (std::uint64_t n = 1; n < 4; ++n) append_and_wait_a_moment(n);
  EXPECT_EQ(log_->figures().waiting, 3);
  log_->uncork();
  log_->flush();
  EXPECT_EQ(log_->figures().commits, commits + 1);
  EXPECT_EQ(log_->read("p", 0, 10)->size(), 4);
}

TEST_F(SqliteLogTest, WhoUncorksCommitsWhereNoDiskIsWaitedFor) {
  open({.durability = Durability::kProcess});
  log_->cork();
  std::vector<std::thread::id> acknowledged;
  for (std::uint64_t n = 0; n < 100; ++n) {
    ASSERT_TRUE(log_->append({.pool = "p", .event = numbered_event(n)},
                             [&](const Result<std::uint64_t>& offset) {
                               EXPECT_EQ(offset.value(), acknowledged.size());
                               acknowledged.push_back(std::this_thread::get_id());
                             })
                    .ok());
  }
  EXPECT_TRUE(acknowledged.empty());
  log_->uncork();
  EXPECT_EQ(acknowledged, std::vector<std::thread::id>(100, std::this_thread::get_id()));
  EXPECT_EQ(log_->figures().commits, 1);
}

TEST_F(SqliteLogTest, WhoUncorksLeavesALargeCommitToTheLogsThread) {
  open({.durability = Durability::kProcess});
  log_->cork();
  std::vector<std::thread::id> acknowledged;
  for (std::uint64_t n = 0; n < 257; ++n) {
    ASSERT_TRUE(log_->append({.pool = "p", .event = numbered_event(n)},
                             [&](const Result<std::uint64_t>&) { acknowledged.push_back(std::this_thread::get_id()); })
                    .ok());
  }
  log_->uncork();
  log_->flush();
  ASSERT_EQ(acknowledged.size(), 257);
  EXPECT_NE(acknowledged.front(), std::this_thread::get_id());
}

TEST_F(SqliteLogTest, WhoUncorksDoesNotWaitForAnotherProgram) {
  open({.durability = Durability::kProcess, .busy_wait = std::chrono::seconds(60)});
  append(0, 1);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::atomic<std::thread::id> acknowledged{};
  log_->cork();
  ASSERT_TRUE(log_->append({.pool = "p", .event = numbered_event(1)},
                           [&](const Result<std::uint64_t>& offset) {
                             EXPECT_EQ(offset.value(), 1);
                             acknowledged = std::this_thread::get_id();
                           })
                  .ok());
  log_->uncork();
  EXPECT_EQ(acknowledged.load(), std::thread::id());
  ASSERT_EQ(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  log_->flush();
  EXPECT_NE(acknowledged.load(), std::thread::id());
  append(2, 3);
  EXPECT_EQ(log_->read("p", 0, 10)->size(), 3);
}

TEST_F(SqliteLogTest, WhoUncorksDoesNotWaitForTheDisk) {
  open({.durability = Durability::kDisk});
  append(0, 1);
  std::vector<std::thread::id> acknowledged;
  for (std::uint64_t n = 1; n < 50; ++n) {
    log_->cork();
    ASSERT_TRUE(log_->append({.pool = "p", .event = numbered_event(n)},
                             [&](const Result<std::uint64_t>& offset) {
                               EXPECT_EQ(offset.value(), acknowledged.size() + 1);
                               acknowledged.push_back(std::this_thread::get_id());
                             })
                    .ok());
    log_->uncork();
  }
  EXPECT_EQ(log_->read("p", 0, 100)->size(), 50) << "written, whether or not the disk has it";
  log_->flush();
  ASSERT_EQ(acknowledged.size(), 49);
  EXPECT_EQ(std::count(acknowledged.begin(), acknowledged.end(), std::this_thread::get_id()), 0);
}

TEST_F(SqliteLogTest, ManyCorkedAppendsDoNotLeaveTheDiskIdle) {
  open({.durability = Durability::kDisk});
  log_->cork();
  std::atomic<int> acknowledged = 0;
  for (std::uint64_t n = 0; n < 100; ++n) {
    ASSERT_TRUE(log_->append({.pool = "p", .event = numbered_event(n)}, [&](const Result<std::uint64_t>&) { ++acknowledged; }).ok());
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (acknowledged == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_GT(acknowledged, 0);
  log_->flush();
  EXPECT_EQ(acknowledged, 100);
}

TEST_F(SqliteLogTest, NothingStaysCorkedBeyondAFlush) {
  open({.durability = Durability::kProcess});
  log_->cork();
  append(0, 3);
  EXPECT_EQ(log_->read("p", 0, 10)->size(), 3);
}

TEST_F(SqliteLogTest, ADamagedBackupReplacesNothing) {
  open();
  append(0, 10);
  ASSERT_TRUE(log_->backup(folder_.file("backup.db")).ok());
  log_.reset();
  std::filesystem::resize_file(folder_.file("backup.db"), 10'000);
  EXPECT_EQ(SqliteLog::restore(folder_.file("backup.db"), path()).error().code, ErrorCode::kCorrupt);
  open();
  EXPECT_EQ(log_->read("p", 0, 100)->size(), 10);
}

TEST_F(SqliteLogTest, LookingFindsThatAcknowledgedEventsAreGone) {
  open();
  append(0, 50);
  crash();
  remove(path() + "-wal");
  const auto look = SqliteLog::look(path()).value();
  EXPECT_NE(look->check_file().error().message.find("50 events were acknowledged"), std::string::npos);
}

TEST_F(SqliteLogTest, ShrinkingGivesRoomBack) {
  open({.durability = Durability::kProcess});
  append(0, 20'000);
  const std::string bytes = Pool().snapshot();
  ASSERT_TRUE(log_->keep_snapshot("p", {20'000, bytes, digest_of(bytes)}).ok());
  ASSERT_TRUE(log_->compact("p", 20'000, AuditKept::kNothing).ok());
  ASSERT_TRUE(log_->shrink().ok());
  append(20'000, 20'010);
  log_.reset();
  EXPECT_LT(std::filesystem::file_size(path()), 200'000);
  open();
  EXPECT_EQ(log_->read("p", 20'000, 100)->size(), 10);
}

TEST_F(SqliteLogTest, TheWholeFileIsChecked) {
  open();
  append(0, 1000);
  ASSERT_TRUE(log_->check_file().ok());
  log_.reset();
  std::string bytes = content_of(path());
  for (std::size_t at = bytes.size() / 2; at < bytes.size() / 2 + 64; ++at) bytes[at] = 'x';
  std::ofstream(path(), std::ios::binary) << bytes;
  const auto look = SqliteLog::look(path()).value();
  EXPECT_FALSE(look->check_file().ok() && verify(*look)->sound());
}

TEST_F(SqliteLogTest, ADamagedAuditIsFound) {
  open();
  append(0, 5);
  const std::string bytes = Pool().snapshot();
  ASSERT_TRUE(log_->keep_snapshot("p", {5, bytes, digest_of(bytes)}).ok());
  ASSERT_TRUE(log_->compact("p", 5, AuditKept::kEverything).ok());
  EXPECT_TRUE(log_->check_file().ok());
  log_.reset();
  sql("UPDATE audit SET record = (SELECT record FROM audit WHERE row & 0xff = 1) WHERE row & 0xff = 2");
  open();
  EXPECT_NE(log_->check_file().error().message.find("event 2"), std::string::npos);
  EXPECT_FALSE(log_->find("p", numbered_event(2).id).ok());
}

}  // namespace
}  // namespace margin
