#include "report/output_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace margin::report {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OutputFileTest, AppearsOnlyWhenCommitted) {
  const std::string target = testing::TempDir() + "margin_output_file_test";
  std::ofstream(target) << "before";
  {
    auto file = OutputFile::create(target);
    ASSERT_TRUE(file.ok());
    file->write("half");
  }
  EXPECT_EQ(content_of(target), "before");
  auto file = OutputFile::create(target);
  ASSERT_TRUE(file.ok());
  file->write("after");
  EXPECT_EQ(content_of(target), "before");
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(content_of(target), "after");
  std::remove(target.c_str());
}

TEST(OutputFileTest, FullDiskIsReported) {
  auto file = OutputFile::create("/dev/full");
  ASSERT_TRUE(file.ok());
  file->write("text");
  EXPECT_FALSE(file->commit().ok());
}

TEST(OutputFileTest, FolderThatIsNotThereIsRefused) { EXPECT_FALSE(OutputFile::create("no/such/folder/file").ok()); }

}  // namespace
}  // namespace margin::report
