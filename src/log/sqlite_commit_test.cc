// Commits of the SQLite store: what shares one, who makes it, whom it waits for, and what a disk that fails leaves.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "log/high_water.h"
#include "log/sqlite_log_fixture.h"
#include "log/store_format.h"

namespace margin {
namespace {

class SqliteCommitTest : public SqliteLogFixture {};

TEST_F(SqliteCommitTest, ALongJournalIsCarriedOverBesideTheCommits) {
  open();
  append(0, 1);
  const std::string bytes(std::size_t{12} << 20, 's');
  ASSERT_TRUE(log_->keep_snapshot("p", {.offset = 1, .bytes = bytes, .digest = digest_of(bytes)}).ok());
  EXPECT_GE(std::filesystem::file_size(path()), bytes.size() / 2);  // the rest is too little to be worth while
}

TEST_F(SqliteCommitTest, WhatIsCommittedIsInTheFileBeforeLong) {
  open({.durability = Durability::kProcess});
  commit(0, 3);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (value_of("SELECT count(*) FROM pools") == "0" && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(value_of("SELECT max(row) & 0xff FROM events"), "2");
}

TEST_F(SqliteCommitTest, AFullDiskFailsTheAppendAndWorksAgainWhenThereIsRoom) {
  open({.queue = {.probe_interval = std::chrono::milliseconds(5)}});
  append(0, 10);
  log_.reset();
  // The store's own bound on its pages stands in for the disk's: SQLite answers both alike. What it does not take stays in the tail.
  open({.durability = Durability::kProcess, .queue = {.probe_interval = std::chrono::milliseconds(5)}, .pages_max = 20});
  std::uint64_t stored = 10;
  Result<std::uint64_t> last = 0;
  while (stored < 20'000 && (last = append_now(*log_, "p", numbered_event(stored))).ok()) {
    if (++stored % 100 == 0) static_cast<void>(log_->settle());
  }
  ASSERT_FALSE(last.ok());
  EXPECT_EQ(last.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(last.error().message.find("full"), std::string::npos);
  EXPECT_FALSE(log_->writable().ok());
  EXPECT_EQ(log_->pools()->front().next, stored);
  EXPECT_EQ(log_->read("p", 0, 100'000)->size(), stored) << "nothing is half-written";
  open();
  EXPECT_EQ(log_->read("p", 0, 100'000)->size(), stored) << "what was acknowledged and found no room is there";
  append(stored, stored + 10);
  EXPECT_TRUE(log_->writable().ok());
}

TEST_F(SqliteCommitTest, ALockedStoreFailsTheAppendAndIsWritableAgainByItself) {
  open({.queue = {.probe_interval = std::chrono::milliseconds(5)}, .busy_wait = std::chrono::milliseconds(10)});
  append(0, 3);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_busy_timeout(other, 10'000);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  commit(3, 4);  // which does not need the file
  EXPECT_FALSE(log_->settle().ok());
  const Result<std::uint64_t> refused = append_now(*log_, "p", numbered_event(4));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("locked"), std::string::npos);
  EXPECT_FALSE(log_->writable().ok());
  sqlite3_close(other);
  for (int i = 0; i < 2'000 && !log_->writable().ok(); ++i) usleep(5'000);
  EXPECT_TRUE(log_->writable().ok());
  append(4, 5);
}

// The file of the tail that holds the text, and where.
std::pair<std::string, std::streamoff> place_in_tail(const std::string& store, const std::string& text) {
  for (const char* suffix : {".tail0", ".tail1"}) {
    std::ifstream file(store + suffix, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (const std::size_t at = bytes.find(text); at != std::string::npos) return {store + suffix, static_cast<std::streamoff>(at)};
  }
  return {};
}

void put(const std::pair<std::string, std::streamoff>& place, char byte) {
  std::fstream file(place.first, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(place.second);
  file.put(byte);
}

TEST_F(SqliteCommitTest, ATailThatCannotBeReadBackIsNotEmptied) {
  open({.durability = Durability::kProcess, .busy_wait = std::chrono::seconds(60)});
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_busy_timeout(other, 10'000);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  // The first file waits for the other program, so the second is not read yet.
  std::uint64_t events = 0;
  std::jthread settling([&] { static_cast<void>(log_->settle()); });
  while (std::filesystem::file_size(path() + ".tail1") == 0) {
    commit(events, events + 1);
    ++events;
  }
  for (const std::uint64_t end = events + 3; events < end; ++events) commit(events, events + 1);
  const auto place = place_in_tail(path(), "model " + std::to_string(events - 2));
  ASSERT_EQ(place.first, path() + ".tail1");
  put(place, 'M');
  sqlite3_close(other);
  settling.join();
  const Status settled = log_->settle();
  ASSERT_FALSE(settled.ok()) << "what was acknowledged would be gone";
  EXPECT_EQ(settled.error().code, ErrorCode::kCorrupt);
  const auto refused = append_now(*log_, "p", numbered_event(events));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(refused.error().message.find("the tail is damaged"), std::string::npos) << refused.error().message;
  put(place, 'm');
  EXPECT_TRUE(log_->settle().ok());
  EXPECT_EQ(log_->read("p", 0, 100'000)->size(), events);
  append(events, events + 1);
}

std::atomic<int> disk_failures = 0;

TEST_F(SqliteCommitTest, AnEventThatTheDiskDidNotTakeIsNotAcknowledgedNorAnyBehindItBeforeTheTailIsCarriedOver) {
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
  const auto counted = [this] { return internal::HighWater::read(internal::high_water_path(path()))->records; };
  EXPECT_EQ(counted(), 3);
  // It is in the tail of this process, so the next has a later place.
  EXPECT_EQ(append_now(*log_, "p", numbered_event(4)).value(), 4);
  EXPECT_EQ(counted(), 5) << "the disk has both";
  EXPECT_TRUE(log_->writable().ok());
  EXPECT_EQ(disk_failures, 0);
  // As if the machine had stopped, and the disk had kept nothing of the tail from where it failed.
  std::filesystem::copy_file(path(), folder_.file("disk"));
  EXPECT_EQ(SqliteLog::look(folder_.file("disk")).value()->read("p", 0, 10)->size(), 4);
}

TEST_F(SqliteCommitTest, CorkedAppendsShareOneCommit) {
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

TEST_F(SqliteCommitTest, WhoUncorksCommitsWhereNoDiskIsWaitedFor) {
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

TEST_F(SqliteCommitTest, WhoUncorksLeavesALargeCommitToTheLogsThread) {
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

TEST_F(SqliteCommitTest, ACommitDoesNotWaitForAnotherProgram) {
  open({.durability = Durability::kProcess, .busy_wait = std::chrono::seconds(60)});
  append(0, 1);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_busy_timeout(other, 10'000);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  commit(1, 100);
  EXPECT_EQ(log_->read("p", 0, 1000)->size(), 100U);
  EXPECT_EQ(log_->find("p", numbered_event(50).id).value()->offset, 50U);
  EXPECT_EQ(log_->pools()->front().next, 100U);
  ASSERT_EQ(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(other);
  append(100, 101);
  EXPECT_EQ(log_->read("p", 0, 1000)->size(), 101U);
}

// A server with many connections may have no descriptor left; what is in the tail is not told to be absent then.
TEST_F(SqliteCommitTest, ATailThatCannotBeOpenedIsNotTakenForEmpty) {
  open({.durability = Durability::kProcess, .busy_wait = std::chrono::seconds(60)});
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_busy_timeout(other, 10'000);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  commit(0, 3);
  EXPECT_TRUE(log_->find("p", numbered_event(1).id).value().has_value());
  struct rlimit limit {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t before = std::exchange(limit.rlim_cur, rlim_t{3});
  setrlimit(RLIMIT_NOFILE, &limit);
  const auto found = log_->find("p", numbered_event(1).id);
  const auto read = log_->read("p", 0, 10);
  const auto pools = log_->pools();
  limit.rlim_cur = before;
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(read.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(pools.error().code, ErrorCode::kUnavailable);
  sqlite3_close(other);
}

std::atomic<bool> disk_is_held = false;
std::atomic<bool> disk_is_asked = false;

TEST_F(SqliteCommitTest, WhoUncorksDoesNotWaitForTheDisk) {
  open({.durability = Durability::kDisk, .put_on_disk = [](int file) {
          disk_is_asked = true;
          disk_is_asked.notify_all();
          disk_is_held.wait(true);
          return fdatasync(file);
        }});
  append(0, 1);
  disk_is_held = true;
  disk_is_asked = false;
  std::vector<std::thread::id> acknowledged;
  const auto commit = [&](std::uint64_t n) {
    log_->cork();
    ASSERT_TRUE(log_->append({.pool = "p", .event = numbered_event(n)},
                             [&](const Result<std::uint64_t>& offset) {
                               EXPECT_EQ(offset.value(), acknowledged.size() + 1);
                               acknowledged.push_back(std::this_thread::get_id());
                             })
                    .ok());
    log_->uncork();
  };
  commit(1);
  disk_is_asked.wait(false);
  for (std::uint64_t n = 2; n < 50; ++n) commit(n);
  EXPECT_EQ(log_->figures().waiting, 49);
  disk_is_held = false;
  disk_is_held.notify_all();
  log_->flush();
  ASSERT_EQ(acknowledged.size(), 49);
  EXPECT_EQ(std::count(acknowledged.begin(), acknowledged.end(), std::this_thread::get_id()), 0);
}

TEST_F(SqliteCommitTest, ManyCorkedAppendsDoNotLeaveTheDiskIdle) {
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

TEST_F(SqliteCommitTest, NothingStaysCorkedBeyondAFlush) {
  open({.durability = Durability::kProcess});
  log_->cork();
  append(0, 3);
  EXPECT_EQ(log_->read("p", 0, 10)->size(), 3);
}

}  // namespace
}  // namespace margin
