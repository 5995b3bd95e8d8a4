// A store exchanged for its backup: nothing of the old one goes before the new one is whole, and in its place.
#include "log/replacement.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "log/sqlite_log_fixture.h"

namespace margin {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ReplacementTest : public SqliteLogFixture {};

TEST_F(ReplacementTest, ABackupWithAFlippedByteInARecordReplacesNothing) {
  open();
  append(0, 10);
  ASSERT_TRUE(log_->backup(folder_.file("backup.db")).ok());
  append(10, 20);
  crash();
  std::string backup = bytes_of(folder_.file("backup.db"));
  const std::size_t at = backup.find("model 5");
  ASSERT_NE(at, std::string::npos);
  backup[at + 6] = '6';
  std::ofstream(folder_.file("backup.db"), std::ios::binary) << backup;
  const Status refused = SqliteLog::restore(folder_.file("backup.db"), path());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(refused.error().message.find("event 5 of pool p is damaged"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(std::filesystem::exists(path() + ".partial"));
  open();
  EXPECT_EQ(log_->read("p", 0, 100)->size(), 20);
}

TEST_F(ReplacementTest, AReplacementThatFailsLeavesTheStoreWithItsTail) {
  open();
  append(0, 10);
  ASSERT_TRUE(log_->backup(folder_.file("backup.db")).ok());
  commit(10, 20);
  crash();
  // The last that is moved cannot be.
  std::filesystem::create_directories(path() + ".replaced/in the way");
  EXPECT_EQ(SqliteLog::restore(folder_.file("backup.db"), path()).error().code, ErrorCode::kUnavailable);
  std::filesystem::remove_all(path() + ".replaced");
  open();
  EXPECT_EQ(log_->read("p", 0, 100)->size(), 20);
}

// As a power failure leaves it, after each file that is moved.
TEST_F(ReplacementTest, AReplacementThatWasCutOffIsRefusedByServersAndGoesOnWhenAskedAgain) {
  const std::array moved = {"-wal", ".tail0", ".tail1", ""};
  for (std::size_t count = 1; count <= moved.size(); ++count) {
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path()).parent_path()))
      std::filesystem::remove_all(entry);
    open();
    append(0, 10);
    ASSERT_TRUE(log_->backup(folder_.file("backup.db")).ok());
    append(10, 15);
    commit(15, 20);
    crash();
    for (std::size_t i = 0; i < count; ++i) std::filesystem::rename(path() + moved[i], path() + ".replaced" + moved[i]);
    // Also where nothing tells how many events there were.
    if (count % 2 == 0) std::filesystem::remove(path() + ".head");
    EXPECT_EQ(refusal().code, ErrorCode::kUnavailable) << count;
    EXPECT_NE(refusal().message.find("a restore was cut off here"), std::string::npos) << refusal().message;
    EXPECT_EQ(std::filesystem::exists(path()), count < moved.size()) << "no new store is made in its place";
    ASSERT_TRUE(SqliteLog::restore(folder_.file("backup.db"), path()).ok());
    open();
    EXPECT_EQ(log_->read("p", 0, 100)->size(), 10);
    EXPECT_FALSE(std::filesystem::exists(path() + ".replaced"));
    log_.reset();
  }
}

}  // namespace
}  // namespace margin
