// The tail alone: what was appended is read back in its order, whatever a crash or damage left behind it.
#include "log/tail.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "log/log_fixture.h"
#include "margin/random.h"

namespace margin::internal {
namespace {

constexpr Digest kStore{7, 8};

class TailTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(tail_.open(path(), kStore).ok()); }
  [[nodiscard]] std::string path() const { return folder_.file("store"); }

  // A commit of so many events, their bytes made of their numbers.
  void append(std::size_t count, std::size_t bytes = 100) {
    std::vector<Waiting> batch(count);
    for (Waiting& item : batch) {
      item.pool = next_ % 2 == 0 ? "even" : "odd";
      item.id = {next_, ~next_};
      item.time_ms = static_cast<std::int64_t>(next_);
      item.offset = next_ / 2;
      item.bytes = content(next_++, bytes);
    }
    ASSERT_TRUE(tail_.append(batch).ok());
  }
  static std::string content(std::uint64_t number, std::size_t bytes) {
    std::string text = std::to_string(number) + ":";
    text.resize(std::max(bytes, text.size()), static_cast<char>('a' + number % 26));
    return text;
  }
  // The numbers of what the files hold; each record is looked at.
  std::vector<std::uint64_t> numbers(const Digest& store = kStore) {
    std::vector<std::uint64_t> numbers;
    const TailContent content = TailContent::read(path(), store).value();
    for (const TailRecord& record : content.records()) {
      const std::uint64_t n = record.id.high;
      EXPECT_EQ(record.id.low, ~n);
      EXPECT_EQ(record.pool, n % 2 == 0 ? "even" : "odd");
      EXPECT_EQ(record.offset, n / 2);
      EXPECT_EQ(record.time_ms, static_cast<std::int64_t>(n));
      EXPECT_EQ(record.bytes, TailTest::content(n, record.bytes.size()));
      numbers.push_back(n);
    }
    return numbers;
  }
  static std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t end) {
    std::vector<std::uint64_t> all(end - first);
    for (std::uint64_t n = first; n < end; ++n) all[n - first] = n;
    return all;
  }
  std::string bytes_of(std::size_t file) const {
    std::ifstream in(tail_path(path(), file), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(std::size_t file, const std::string& bytes) { std::ofstream(tail_path(path(), file), std::ios::binary) << bytes; }

  TemporaryFolder folder_;
  Tail tail_;
  std::uint64_t next_ = 0;
};

TEST_F(TailTest, CommitsAreReadBackInTheirOrder) {
  EXPECT_TRUE(numbers().empty());
  EXPECT_EQ(tail_.bytes(), 0U);
  Random random(3);
  for (int i = 0; i < 60; ++i) append(1 + random.below(20), 1 + random.below(random.chance(0.1) ? 9'000 : 300));
  EXPECT_EQ(numbers(), from_to(0, next_));
  EXPECT_TRUE(numbers({7, 9}).empty()) << "of another store";
}

TEST_F(TailTest, FramesThatEndWithAPageAreFollowedByOthers) {
  // Head 40, frame head 16, record head 40, the pool's name "even": one byte less, none, one more than a page.
  for (const std::size_t bytes : {4096U - 101, 4096U - 100, 4096U - 99}) {
    next_ = 0;
    ASSERT_TRUE(tail_.open(path(), kStore).ok());
    append(1, bytes);
    append(1, 10);
    append(3, 5'000);
    EXPECT_EQ(numbers(), from_to(0, 5)) << bytes;
  }
}

TEST_F(TailTest, TheFilesTakeTurns) {
  append(5);
  const Tail::HandedOver first = tail_.hand_over();
  EXPECT_FALSE(first.empty);
  append(5);
  EXPECT_EQ(numbers(), from_to(0, 10));
  EXPECT_EQ(tail_.hand_over().file, first.file) << "it is not released";
  tail_.release(first, false);
  EXPECT_EQ(numbers(), from_to(5, 10));
  const Tail::HandedOver second = tail_.hand_over();
  EXPECT_NE(second.file, first.file);
  append(2);
  EXPECT_EQ(numbers(), from_to(5, 12)) << "in the order of the commits, not of the files";
  tail_.release(second, false);
  EXPECT_EQ(numbers(), from_to(10, 12));
  tail_.release(tail_.hand_over(), false);
  EXPECT_TRUE(numbers().empty());
  EXPECT_TRUE(tail_.hand_over().empty);
  EXPECT_EQ(tail_.bytes(), 0U);
}

// A commit that ends with its page has no zeros behind it, but a whole frame of the turn before.
TEST_F(TailTest, WhatAnEarlierTurnLeftBehindIsNotRead) {
  append(1, 4096U - 100);
  append(1);
  tail_.release(tail_.hand_over(), false);
  tail_.release(tail_.hand_over(), false);
  ASSERT_NE(bytes_of(0).find("1:bbb", 4096), std::string::npos) << "otherwise this proves nothing";
  append(1, 4096U - 100);
  EXPECT_EQ(numbers(), from_to(2, 3));
}

TEST_F(TailTest, NothingStaysOfWhatIsErased) {
  append(100);
  const Tail::HandedOver file = tail_.hand_over();
  tail_.release(file, false);
  EXPECT_NE(bytes_of(file.file).find("99:vvv"), std::string::npos) << "otherwise this proves nothing";
  tail_.release(tail_.hand_over(), true);
  tail_.release(tail_.hand_over(), true);
  EXPECT_EQ(bytes_of(0) + bytes_of(1), "");
}

// Whatever was cut off or changed: the commits before it are read, none is read in part, none of those behind.
TEST_F(TailTest, ReadsUpToTheFirstCommitThatIsNotWhole) {
  std::vector<std::uint64_t> ends = {0};
  for (const std::size_t count : {1U, 3U, 50U, 1U, 7U}) {
    append(count, 120);
    ends.push_back(next_);
  }
  const std::string whole = bytes_of(0);
  Random random(4);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    const std::size_t at = random.below(bytes.size());
    random.chance(0.5) ? bytes.resize(at) : static_cast<void>(bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8))));
    write(0, bytes);
    const std::vector<std::uint64_t> read = numbers();
    EXPECT_EQ(read, from_to(0, read.size()));
    EXPECT_NE(std::find(ends.begin(), ends.end(), read.size()), ends.end()) << read.size();
  }
  // A length beyond the file asks for no memory.
  std::string bytes = whole;
  for (int i = 0; i < 4; ++i) bytes[40 + 8 + static_cast<std::size_t>(i)] = '\xff';
  write(0, bytes);
  EXPECT_TRUE(numbers().empty());
}

// Where the file may not grow beyond any place: within the commit, and behind it where whole pages are written.
TEST_F(TailTest, ACommitThatFailedIsNotThereAndTheNextIs) {
  append(3);
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit {};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t before = limit.rlim_cur;
  for (const rlim_t most : {rlim_t{4'096}, rlim_t{9'000}, rlim_t{20'600}, rlim_t{24'000}}) {
    limit.rlim_cur = most;
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::uint64_t length = tail_.length();
    std::vector<Waiting> large(1);
    large[0].pool = "even";
    large[0].bytes.assign(20'000, 'x');
    const Status status = tail_.append(large);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find("full"), std::string::npos) << status.error().message;
    EXPECT_EQ(tail_.length(), length);
    EXPECT_EQ(numbers(), from_to(0, next_)) << most;
  }
  std::signal(SIGXFSZ, SIG_DFL);
  append(2);
  EXPECT_EQ(numbers(), from_to(0, 5));
}

TEST_F(TailTest, AProbeTellsWhetherThereIsRoomAndLeavesNothing) {
  append(3);
  const std::uint64_t length = tail_.length();
  EXPECT_TRUE(tail_.probe().ok());
  EXPECT_EQ(tail_.length(), length);
  EXPECT_EQ(numbers(), from_to(0, 3));
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit {};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t before = std::exchange(limit.rlim_cur, rlim_t{16} << 10);
  setrlimit(RLIMIT_FSIZE, &limit);
  const Status full = tail_.probe();
  limit.rlim_cur = before;
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, SIG_DFL);
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.error().message.find("full"), std::string::npos) << full.error().message;
  EXPECT_LE(std::filesystem::file_size(tail_path(path(), 0)), 8'192) << "what was written of it is gone";
  append(2);
  EXPECT_EQ(numbers(), from_to(0, 5));
}

TEST_F(TailTest, OnlyWhatWasAppendedIsPutOnTheDisk) {
  static int synced;
  synced = 0;
  const auto count = [](int file) {
    ++synced;
    return fdatasync(file);
  };
  EXPECT_TRUE(tail_.put_on_disk(count));
  EXPECT_EQ(synced, 0);
  append(1);
  EXPECT_TRUE(tail_.put_on_disk(count));
  EXPECT_TRUE(tail_.put_on_disk(count));
  EXPECT_EQ(synced, 1);
  append(1);
  static_cast<void>(tail_.hand_over());
  append(1);
  EXPECT_TRUE(tail_.put_on_disk(count));
  EXPECT_EQ(synced, 3) << "both files";
  append(1);
  EXPECT_FALSE(tail_.put_on_disk([](int) { return -1; }));
}

// Whoever reads both files while they take turns misses nothing between what it finds: small commits, of which many turns pass, and such as
// are read in several pieces, between which a file is released and written anew.
TEST_F(TailTest, IsReadWithoutGapsWhileItIsWritten) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{70'000}}) {
    std::atomic<bool> over = false;
    std::jthread writing([&] {
      while (!over) {
        append(1, bytes);
        append(1, bytes);
        const Tail::HandedOver file = tail_.hand_over();
        append(1, bytes);
        tail_.release(file, false);
      }
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (!HasFailure() && std::chrono::steady_clock::now() < end) {
      const std::vector<std::uint64_t> read = numbers();
      EXPECT_EQ(read, read.empty() ? read : from_to(read.front(), read.front() + read.size())) << "commits of " << bytes << " bytes";
    }
    over = true;
  }
}

TEST_F(TailTest, ClosingRemovesWhatIsEmptyAndKeepsWhatIsNot) {
  append(1);
  tail_.close();
  EXPECT_TRUE(std::filesystem::exists(tail_path(path(), 0)));
  EXPECT_FALSE(std::filesystem::exists(tail_path(path(), 1)));
  EXPECT_EQ(numbers(), from_to(0, 1));
}

}  // namespace
}  // namespace margin::internal
