// What is not in the file of a SQLite store yet, its tail and its journal, stays bounded while commits never pause; a reader that does not
// let go makes it grow, commits go on all the same, and it is short again when the reader is gone.
#include <gtest/gtest.h>
#include <sched.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "log/log_fixture.h"
#include "log/sqlite_log.h"
#include "log/sqlite_writer.h"

namespace margin {
namespace {

constexpr std::uint64_t kMebi = 1 << 20;
// As docs/event_log.md says: two files of the tail, beyond which a commit waits, and the journal.
constexpr std::uint64_t kLong = (2 * 64 + 12) * kMebi;
constexpr std::uint64_t kBatch = 4;

class JournalLengthTest : public testing::Test {
 protected:
  void SetUp() override { open({.durability = Durability::kProcess}); }
  void open(const SqliteLogOptions& options) {
    auto log = SqliteLog::open(path(), options);
    ASSERT_TRUE(log.ok()) << log.error().message;
    log_ = std::move(*log);
  }
  [[nodiscard]] std::string path() const { return folder_.file("store"); }

  // So many MiB, in commits of kBatch; the longest that the journal was after one.
  std::uint64_t append(std::uint64_t mebibytes) {
    std::uint64_t longest = 0;
    for (std::uint64_t i = 0; i < mebibytes; ++i) {
      Event event = numbered_event(number_++);
      std::get<ModelJoined>(event.body).model.assign(kMebi, 'x');
      EXPECT_TRUE(log_->append({.pool = "p", .event = event}, [](const Result<std::uint64_t>& offset) { EXPECT_TRUE(offset.ok()); }).ok());
      if (i % kBatch != kBatch - 1 && i + 1 < mebibytes) continue;
      log_->flush();
      longest = std::max(longest, log_->figures().journal_bytes);
    }
    return longest;
  }

  TemporaryFolder folder_;
  std::unique_ptr<SqliteLog> log_;
  std::uint64_t number_ = 0;
};

TEST_F(JournalLengthTest, StaysBoundedWhenCommitsNeverPause) {
  const std::uint64_t longest = append(200);
  EXPECT_GT(longest, 4 * kMebi);
  EXPECT_LE(longest, kLong + 2 * kBatch * kMebi);
}

TEST_F(JournalLengthTest, GrowsBesideAReaderThatStaysAndShrinksWhenItIsGone) {
  append(kBatch);
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM events", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_GT(append(160), kLong) << "every one of them was acknowledged";
  sqlite3_close(reader);
  append(12);  // so many are worth carrying over
  ASSERT_TRUE(log_->settle().ok());
  EXPECT_LE(log_->figures().journal_bytes, 20 * kMebi);
}

TEST_F(JournalLengthTest, ACommitWaitsWhenTheTailIsFull) {
  append(kBatch);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  sqlite3_busy_timeout(other, 10'000);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread releasing([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    sqlite3_close(other);
  });
  const std::uint64_t longest = append(160);
  releasing.join();
  EXPECT_LE(longest, kLong + 2 * kBatch * kMebi);
  EXPECT_EQ(log_->pools()->at(0).next, 160 + kBatch);
}

TEST_F(JournalLengthTest, StaysBoundedWhileEventsAreCompacted) {
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 1'000; ++j) {
      Event event = numbered_event(number_++);
      std::get<ModelJoined>(event.body).model.assign(4'000, 'x');
      ASSERT_TRUE(log_->append({.pool = "p", .event = event}, {}).ok());
    }
    log_->flush();
  }
  const std::string state = "state";
  ASSERT_TRUE(log_->keep_snapshot("p", {.offset = number_, .bytes = state, .digest = digest_of(state)}).ok());
  ASSERT_TRUE(log_->compact("p", number_, AuditKept::kEverything).ok());
  EXPECT_LE(std::filesystem::file_size(path() + "-wal"), 60 * kMebi) << "a third of what is written";
}

std::atomic<int> let_in{0};
int count_let_in() { return ++let_in, sched_yield(); }
// Of 64 pages.
constexpr int kBreathsPerMebi = 20;

// Who wants the same processor has it every few pages.
TEST_F(JournalLengthTest, IsCarriedOverBehindWhoeverWantsTheProcessor) {
  log_.reset();
  open({.durability = Durability::kProcess, .let_others_in = count_let_in});
  append(1);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (let_in < kBreathsPerMebi && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(let_in, kBreathsPerMebi);
}

TEST_F(JournalLengthTest, IsNotKeptFromWhoWaitsForIt) {
  log_.reset();
  open({.durability = Durability::kProcess, .let_others_in = count_let_in});
  let_in = 0;
  for (int i = 0; i < 20; ++i) {
    Event event = numbered_event(number_++);
    ASSERT_TRUE(log_->append({.pool = "p", .event = event}, {}).ok());
    ASSERT_TRUE(log_->settle().ok());
  }
  EXPECT_EQ(let_in, 0);
}

TEST(PacedFile, BreathesWhileTheJournalAndTheFileAreWritten) {
  const TemporaryFolder folder;
  int breaths = 0;
  internal::SqliteWriter writer;
  ASSERT_TRUE(writer.open(folder.file("store"), {.breathe = [&] { ++breaths; }}).ok());
  const std::string bytes(kMebi, 'x');
  const internal::TailRecord record{.pool = "p", .id = {1, 1}, .time_ms = 1, .bytes = bytes};
  breaths = 0;
  ASSERT_TRUE(writer.add({&record, 1}).ok());
  EXPECT_GE(breaths, kBreathsPerMebi);
  breaths = 0;
  ASSERT_TRUE(writer.empty_journal().ok());
  EXPECT_GE(breaths, kBreathsPerMebi);
  writer.close();
}

// How often the other threads of this process went to sleep of their own accord.
std::uint64_t naps_of_others() {
  std::uint64_t naps = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (thread.path().filename() == std::to_string(getpid())) continue;
    std::ifstream status(thread.path() / "status");
    for (std::string word; status >> word;) {
      std::uint64_t count = 0;
      if (word == "voluntary_ctxt_switches:" && status >> count) naps += count;
    }
  }
  return naps;
}

// Where the tail is long, who carries over takes a share of the processor, and breath in between.
TEST_F(JournalLengthTest, IsCarriedOverWithBreathsWhereMuchWaits) {
  const std::uint64_t before = naps_of_others();
  append(48);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (naps_of_others() < before + 100 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(naps_of_others(), before + 100);
}

}  // namespace
}  // namespace margin
