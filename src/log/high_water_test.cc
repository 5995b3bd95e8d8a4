#include "log/high_water.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "log/log_fixture.h"

namespace margin::internal {
namespace {

constexpr Digest kStore{7, 8};

class HighWaterTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.file("store.head"); }
  [[nodiscard]] HighWater open() const { return HighWater::open(folder_.file("store")).value(); }
  [[nodiscard]] std::string bytes() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }
  [[nodiscard]] std::uint64_t records() const { return HighWater::read(path()).value_or(Acknowledged{}).records; }

  TemporaryFolder folder_;
};

TEST_F(HighWaterTest, SaysWhatWasWrittenLast) {
  EXPECT_FALSE(HighWater::read(path()).has_value());
  HighWater file = open();
  EXPECT_FALSE(file.read().has_value());
  for (std::uint64_t n = 0; n < 5; ++n) {
    file.write({.store = kStore, .records = n, .on_disk = false});
    const auto read = HighWater::read(path());
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->store, kStore);
    EXPECT_EQ(read->records, n);
    EXPECT_FALSE(read->on_disk);
  }
  file.write({.store = kStore, .records = 4, .on_disk = true});
  EXPECT_TRUE(HighWater::read(path())->on_disk) << "although the count is the same";
  file = open();
  file.write({.store = kStore, .records = 2, .on_disk = true});
  EXPECT_EQ(records(), 2) << "less than before, after it was opened anew";
}

// A process may be killed after any byte of a write.
TEST_F(HighWaterTest, TornAnywhereItSaysWhatWasWrittenBefore) {
  HighWater file = open();
  file.write({.store = kStore, .records = 300, .on_disk = false});
  for (std::uint64_t n = 301; n < 304; ++n) {
    const std::string before = bytes();
    file.write({.store = kStore, .records = n, .on_disk = false});
    const std::string after = bytes();
    std::size_t torn = 0;
    for (std::size_t cut = 0; cut <= after.size(); ++cut) {
      put(after.substr(0, cut) + before.substr(cut));
      const std::uint64_t said = records();
      EXPECT_TRUE(said == n || said == n - 1) << said << " when cut at " << cut;
      if (bytes() != before && bytes() != after) ++torn;
    }
    EXPECT_GT(torn, 0U);
    file = open();
    file.write({.store = kStore, .records = n, .on_disk = false});
  }
}

TEST_F(HighWaterTest, ADamagedFileSaysNothing) {
  open().write({.store = kStore, .records = 3, .on_disk = true});
  std::string changed = bytes();
  changed[20] ^= 1;
  put(changed);
  EXPECT_EQ(records(), 3) << "the other place is whole";
  changed[HighWater::kPlaceBytes + 20] ^= 1;
  put(changed);
  EXPECT_FALSE(HighWater::read(path()).has_value());
}

// It had one place, behind which stood who has the store.
TEST_F(HighWaterTest, AnOlderFileIsReadAndBecomesANewOne) {
  open().write({.store = kStore, .records = 9, .on_disk = true});
  put(bytes().substr(0, HighWater::kPlaceBytes));
  EXPECT_EQ(records(), 9);
  put(bytes() + "process 1 on host since then\n");
  EXPECT_EQ(records(), 9);
  open().write({.store = kStore, .records = 10, .on_disk = true});
  EXPECT_EQ(records(), 10);
  EXPECT_EQ(bytes().size(), HighWater::kBytes);
}

// Made longer on a full disk, it has the length and no room: a write to the mapping would end the process when there still is none.
TEST_F(HighWaterTest, WhatIsMappedHasRoomOnTheDisk) {
  put("");
  std::filesystem::resize_file(path(), HighWater::kBytes);
  struct stat found {};
  ASSERT_EQ(stat(path().c_str(), &found), 0);
  if (found.st_blocks != 0) GTEST_SKIP() << "files here have no holes";
  const HighWater file = open();
  ASSERT_EQ(stat(path().c_str(), &found), 0);
  EXPECT_GT(found.st_blocks, 0);
}

}  // namespace
}  // namespace margin::internal
