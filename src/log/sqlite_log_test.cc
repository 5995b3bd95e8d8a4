// What only the SQLite store promises: damage is found and named, unlucky operators are told, snapshots and backups are whole.
#include "log/sqlite_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "log/descriptor.h"
#include "log/lease.h"
#include "log/recovery.h"
#include "log/sqlite_log_fixture.h"
#include "log/store_format.h"

namespace margin {
namespace {

using std::filesystem::copy_file;
using std::filesystem::copy_options;
using std::filesystem::remove;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SqliteLogTest : public SqliteLogFixture {};

TEST_F(SqliteLogTest, ACrashedStoreHasEverythingThatWasAcknowledged) {
  open();
  append(0, 50);
  crash();
  open();
  EXPECT_EQ(log_->read("p", 0, 1000)->size(), 50);
  EXPECT_EQ(log_->warning(), "");
  append(50, 51);
}

TEST_F(SqliteLogTest, AStoreBehindALinkIsTheSameStore) {
  const std::string link = folder_.file("link.db");
  std::filesystem::create_symlink("store.db", link);
  log_ = SqliteLog::open(link).value();
  append(0, 3);
  EXPECT_EQ(SqliteLog::open(path()).error().code, ErrorCode::kUnavailable) << "it has the lease";
  open({.busy_wait = std::chrono::seconds(60)});
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_busy_timeout(other, 10'000);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  commit(3, 5);
  EXPECT_EQ(SqliteLog::look(link).value()->read("p", 0, 10)->size(), 5U) << "the tail too";
  sqlite3_close(other);
}

TEST_F(SqliteLogTest, TheTailIsForThoseWhoMayReadTheStore) {
  using std::filesystem::perms;
  open();
  append(0, 1);
  log_.reset();
  for (const perms allowed : {perms::owner_read | perms::owner_write, perms::owner_read | perms::owner_write | perms::group_read}) {
    std::filesystem::permissions(path(), allowed);
    open();
    for (const char* suffix : {"-wal", ".tail0", ".tail1"}) {
      EXPECT_EQ(std::filesystem::status(path() + suffix).permissions(), allowed) << suffix;
    }
    log_.reset();
  }
}

TEST_F(SqliteLogTest, AStoreThatWasClosedIsOneFile) {
  open();
  append(0, 50);
  log_.reset();
  for (const char* suffix : {"-wal", "-shm", ".tail0", ".tail1"}) EXPECT_FALSE(std::filesystem::exists(path() + suffix)) << suffix;
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

TEST_F(SqliteLogTest, WhoRemovesTheLockFileLetsNobodyIn) {
  open();
  commit(0, 10);
  const auto refused = [this] {
    remove(path() + ".lock");
    const auto second = SqliteLog::open(path());
    return second ? Error{ErrorCode::kConflict, "it opened"} : second.error();
  };
  for (int i = 0; i < 2; ++i) {
    const Error error = refused();
    EXPECT_EQ(error.code, ErrorCode::kUnavailable) << error.message;
    EXPECT_NE(error.message.find("process " + std::to_string(getpid())), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("lets nobody in"), std::string::npos) << error.message;
  }
  ASSERT_TRUE(log_->backup(folder_.file("backup.db")).ok());
  remove(path() + ".lock");
  EXPECT_EQ(SqliteLog::restore(folder_.file("backup.db"), path()).error().code, ErrorCode::kUnavailable);
  commit(10, 20);
  remove(path() + ".head");
  EXPECT_EQ(refused().code, ErrorCode::kUnavailable) << "the tail is locked too";
  commit(20, 30);
  open();
  EXPECT_EQ(log_->read("p", 0, 100)->size(), 30);
  crash();
  open();
  EXPECT_EQ(log_->read("p", 0, 100)->size(), 30) << "files that a crash has left are free";
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
  append_singly(0, 10);
  log_.reset();
  sql("DELETE FROM events WHERE row & 0xff = 4");
  open();
  EXPECT_NE(log_->read("p", 0, 10).error().message.find("event 4"), std::string::npos);
}

TEST_F(SqliteLogTest, AMissingEndIsFound) {
  open();
  append_singly(0, 10);
  log_.reset();
  sql("DELETE FROM events WHERE row & 0xff = 9");
  open();
  EXPECT_EQ(log_->read("p", 0, 9)->size(), 9);
  EXPECT_NE(log_->read("p", 0, 10).error().message.find("event 9"), std::string::npos);
}

TEST_F(SqliteLogTest, SwappedRecordsAreFound) {
  open();
  append_singly(0, 10);
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
  EXPECT_EQ(content_of(path() + "-wal"), journal) << "what is refused stays as it was";
  journal[journal.size() / 2] ^= 1;
  std::ofstream(path() + "-wal", std::ios::binary) << journal;
  open();
  EXPECT_EQ(log_->read("p", 0, 100)->size(), 50);
}

TEST_F(SqliteLogTest, ADamagedTailThatIsRefusedStaysAsItWas) {
  open();
  append(0, 20);
  commit(20, 50);
  crash();
  const std::string journal = content_of(path() + "-wal");
  std::string tail = content_of(path() + ".tail0");
  const std::string file = tail.find("model 30") != std::string::npos ? ".tail0" : ".tail1";
  tail = content_of(path() + file);
  const std::size_t at = tail.find("model 30");
  ASSERT_NE(at, std::string::npos);
  tail[at] ^= 1;
  std::ofstream(path() + file, std::ios::binary) << tail;
  EXPECT_EQ(refusal().code, ErrorCode::kCorrupt);
  EXPECT_EQ(content_of(path() + file), tail);
  EXPECT_EQ(content_of(path() + "-wal"), journal);
  tail[at] ^= 1;
  std::ofstream(path() + file, std::ios::binary) << tail;
  open();
  EXPECT_EQ(log_->read("p", 0, 100)->size(), 50);
}

TEST_F(SqliteLogTest, ATailOfANewerMarginIsRefusedByNameAndStays) {
  open();
  append(0, 5);
  commit(5, 10);
  crash();
  const std::string file = content_of(path() + ".tail0").starts_with("MRGNTAIL") ? ".tail0" : ".tail1";
  std::string tail = content_of(path() + file);
  ASSERT_TRUE(tail.starts_with("MRGNTAIL"));
  tail[8] = 2;
  std::ofstream(path() + file, std::ios::binary) << tail;
  remove(path() + ".head");
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_NE(error.message.find(file + " has format 2, this binary reads up to 1: it needs a newer margin"), std::string::npos)
      << error.message;
  EXPECT_EQ(content_of(path() + file), tail);
  EXPECT_EQ(SqliteLog::look(path()).value()->pools().error().code, ErrorCode::kUnsupported);
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

TEST_F(SqliteLogTest, WithDurabilityProcessWhatIsLeftOfADamagedEndIsKeptAFewTimes) {
  const auto damage = [this](std::uint64_t first) {
    open({.durability = Durability::kProcess});
    append(first, first + 10);
    commit(first + 10, first + 20);
    crash();
    std::filesystem::resize_file(path() + "-wal", std::filesystem::file_size(path() + "-wal") - 1);
    std::string journal = content_of(path() + "-wal");
    open({.durability = Durability::kProcess});
    EXPECT_NE(log_->warning().find("events were acknowledged"), std::string::npos) << log_->warning();
    return journal;
  };
  std::uint64_t next = 0;
  std::vector<std::string> journals;
  for (int set = 1; set <= 4; ++set) {
    journals.push_back(damage(next));
    EXPECT_NE(log_->warning().find("-wal.damaged" + std::to_string(set)), std::string::npos) << log_->warning();
    EXPECT_NE(log_->warning().find(".tail"), std::string::npos) << log_->warning();
    next = log_->pools()->empty() ? 0 : log_->pools()->front().next;
  }
  damage(next);
  EXPECT_NE(log_->warning().find("is not kept"), std::string::npos) << log_->warning();
  for (int set = 1; set <= 4; ++set)
    EXPECT_EQ(content_of(path() + "-wal.damaged" + std::to_string(set)), journals[static_cast<std::size_t>(set - 1)]);
  EXPECT_FALSE(std::filesystem::exists(path() + "-wal.damaged5"));
}

TEST_F(SqliteLogTest, AStoreWhoseMakingWasCutOffIsMadeAnew) {
  EXPECT_TRUE(SqliteLog::is_unmade(path()));
  sql("PRAGMA page_size = 16384; PRAGMA journal_mode = WAL");
  ASSERT_GT(std::filesystem::file_size(path()), 0U);
  EXPECT_TRUE(SqliteLog::is_unmade(path()));
  EXPECT_FALSE(SqliteLog::look(path()).ok());
  open();
  append(0, 3);
  EXPECT_FALSE(SqliteLog::is_unmade(path()));
}

TEST_F(SqliteLogTest, TwoBackupsOfOneNameDoNotMix) {
  open();
  append(0, 3);
  const std::string partial = internal::partial_path(folder_.file("backup"));
  {
    const internal::Descriptor other(::open(partial.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(internal::try_to_lock(other.get()));
    const Status refused = log_->backup(folder_.file("backup"));
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("another process is writing"), std::string::npos) << refused.error().message;
    EXPECT_TRUE(std::filesystem::exists(partial)) << "it is the other's";
  }
  std::ofstream(partial) << "what one that was cut off has left";
  ASSERT_TRUE(log_->backup(folder_.file("backup")).ok());
  EXPECT_EQ(SqliteLog::look(folder_.file("backup")).value()->pools()->front().next, 3U);
}

TEST_F(SqliteLogTest, AnOldCopyAfterACleanStopIsRefusedAlsoWithDurabilityProcess) {
  open({.durability = Durability::kProcess});
  append(0, 10);
  log_.reset();
  copy_file(path(), folder_.file("old"));
  open({.durability = Durability::kProcess});
  append(10, 20);
  log_.reset();
  copy_file(folder_.file("old"), path(), copy_options::overwrite_existing);
  const auto refused = SqliteLog::open(path(), {.durability = Durability::kProcess});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(refused.error().message.find("20 events were acknowledged, and 10 are in it"), std::string::npos) << refused.error().message;
}

TEST_F(SqliteLogTest, AnEmptyFileInPlaceOfTheStoreIsRefused) {
  open();
  append(0, 5);
  log_.reset();
  std::filesystem::resize_file(path(), 0);
  EXPECT_EQ(refusal().code, ErrorCode::kCorrupt);
}

TEST_F(SqliteLogTest, AStoreOfTheLayoutBeforeIsTakenOver) {
  open();
  append(0, 5);
  log_.reset();
  sql("PRAGMA user_version = 4");
  open();
  EXPECT_EQ(log_->read("p", 0, 10)->size(), 5);
  log_.reset();
  EXPECT_EQ(value_of("PRAGMA user_version"), "5");
}

TEST_F(SqliteLogTest, AStoreOfANewerMarginIsRefusedByName) {
  open();
  log_.reset();
  sql("PRAGMA user_version = 6");
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_NE(error.message.find("layout 6"), std::string::npos);
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
  EXPECT_EQ(log.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(SqliteLog::look(folder_.file("absent.db")).error().code, ErrorCode::kNotFound);
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

TEST_F(SqliteLogTest, ASnapshotThatFindsNoRoomTakesNone) {
  open();
  append(0, 1);
  open({.pages_max = 200});
  const auto keep = [this](std::size_t bytes) {
    const std::string state(bytes, 's');
    return log_->keep_snapshot("p", {.offset = 1, .bytes = state, .digest = digest_of(state)});
  };
  ASSERT_TRUE(keep(100'000).ok());
  for (int i = 0; i < 3; ++i) {
    const Status full = keep(10'000'000);
    ASSERT_FALSE(full.ok());
    EXPECT_NE(full.error().message.find("full"), std::string::npos) << full.error().message;
    EXPECT_EQ(value_of("SELECT count(*) FROM snapshots"), "1");
    EXPECT_EQ(value_of("SELECT count(DISTINCT snapshot) FROM snapshot_parts"), "1");
  }
  EXPECT_EQ(log_->latest_snapshot("p").value()->bytes.size(), 100'000U);
  EXPECT_TRUE(keep(200'000).ok());
  append(1, 100);
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

// What the tail holds is added to the copy through a journal of its own.
TEST_F(SqliteLogTest, ABackupThatFindsNoRoomForTheTailIsNone) {
  open({.busy_wait = std::chrono::seconds(60)});
  append(0, 10'000);
  ASSERT_TRUE(log_->backup(folder_.file("first.db")).ok());
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_busy_timeout(other, 10'000);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  commit(10'000, 11'000);
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit {};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t before = std::exchange(limit.rlim_cur, std::filesystem::file_size(folder_.file("first.db")));
  setrlimit(RLIMIT_FSIZE, &limit);
  const Status full = log_->backup(folder_.file("second.db"));
  limit.rlim_cur = before;
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_FALSE(full.ok());
  for (const char* suffix : {"", ".partial", ".partial-wal", ".partial-shm"}) {
    EXPECT_FALSE(std::filesystem::exists(folder_.file("second.db") + suffix)) << suffix;
  }
  ASSERT_TRUE(log_->backup(folder_.file("second.db")).ok());
  EXPECT_EQ(SqliteLog::look(folder_.file("second.db")).value()->pools()->front().next, 11'000);
  sqlite3_close(other);
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
  // Where a page begins; in the middle of one there may be nothing.
  const std::size_t page = std::stoul(value_of("PRAGMA page_size"));
  const std::size_t begin = bytes.size() / 2 / page * page;
  for (std::size_t at = begin; at < begin + 64; ++at) bytes[at] = 'x';
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
