#include "dataset/output_file.h"

#include <gtest/gtest.h>

#include "dataset/temporary_file.h"

namespace margin::dataset {
namespace {

TEST(OutputFileTest, AppearsOnlyWhenCommitted) {
  const TemporaryFile target("before");
  {
    auto file = OutputFile::create(target.path());
    ASSERT_TRUE(file.ok());
    file->write("half");
  }
  EXPECT_EQ(target.content(), "before");
  auto file = OutputFile::create(target.path());
  ASSERT_TRUE(file.ok());
  file->write("after");
  EXPECT_EQ(target.content(), "before");
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(target.content(), "after");
}

TEST(OutputFileTest, FullDiskIsReported) {
  auto file = OutputFile::create("/dev/full");
  ASSERT_TRUE(file.ok());
  file->write("text");
  EXPECT_FALSE(file->commit().ok());
}

TEST(OutputFileTest, FolderThatIsNotThereIsRefused) { EXPECT_FALSE(OutputFile::create("no/such/folder/file").ok()); }

}  // namespace
}  // namespace margin::dataset
