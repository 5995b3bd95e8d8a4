#include "log/evidence.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "log/log_fixture.h"

namespace margin::internal {
namespace {

TEST(KeepDamaged, AFullDiskLeavesNoPartOfACopyThatWouldTakeTheNextOnesPlace) {
  const TemporaryFolder folder;
  const std::string store = folder.file("store");
  std::ofstream(store + "-wal") << std::string(1'000, 'x');
  std::ofstream(store + ".tail0") << std::string(100'000, 'x');
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 50'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int tried = 0; tried < 5; ++tried) {
    EXPECT_FALSE(keep_damaged(store).ok());
    for (const char* suffix : {"-wal", ".tail0"}) EXPECT_FALSE(std::filesystem::exists(store + suffix + ".damaged1"));
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  const auto kept = keep_damaged(store);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(std::filesystem::file_size(store + ".tail0.damaged1"), 100'000U);
}

}  // namespace
}  // namespace margin::internal
