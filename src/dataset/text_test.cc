#include "dataset/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dataset/observation_log.h"
#include "dataset/output_file.h"
#include "dataset/temporary_file.h"
#include "dataset/timestamp.h"

namespace margin::dataset {
namespace {

TEST(TextTest, ControlCodesBecomeVisible) {
  EXPECT_EQ(printable("plain, é and 漢字"), "plain, é and 漢字");
  EXPECT_EQ(printable("\x1b[2J\r\n\x7f"), "\\x1b[2J\\x0d\\x0a\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");                             // C1 control sequence introducer
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");                    // right-to-left override
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");                             // not UTF-8
  EXPECT_EQ(printable("\xc0\x9b\xed\xa0\x80"), "\\xc0\\x9b\\xed\\xa0\\x80");  // overlong, surrogate
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                             // cut off
}

TEST(TextTest, LongTextIsCut) { EXPECT_EQ(printable("abcdef", 3), "abc..."); }

TEST(TextTest, JsonStringsAreEscaped) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01é"), "\"a\\\"b\\\\c\\u000a\\u0001é\"");
  EXPECT_EQ(json_string("\xe2\x80\xae\xc2\x9b\xff"), "\"\\u202e\\u009b\\ufffd\"");
}

TEST(TextTest, JsonNumbersReadBackToTheSameBits) {
  EXPECT_EQ(json_number(0.1), "0.1");
  EXPECT_EQ(std::stod(json_number(1.0 / 3.0)), 1.0 / 3.0);
  EXPECT_EQ(json_number(1e-300), "1e-300");
  EXPECT_EQ(json_number(kMissing), "null");
}

TEST(TimestampTest, DatesAndTimesAreSecondsSince1970) {
  EXPECT_EQ(parse_timestamp("1970-01-01"), 0.0);
  EXPECT_EQ(parse_timestamp("2024-02-29"), 1709164800.0);
  EXPECT_EQ(parse_timestamp("2024-05-17T08:30"), 1715934600.0);
  EXPECT_EQ(parse_timestamp("2024-05-17 08:30:15.25Z"), 1715934615.25);
  EXPECT_EQ(parse_timestamp("2024-05-17T08:30:00+02:00"), 1715927400.0);
  EXPECT_EQ(parse_timestamp("2024-05-17T08:30:00-00:30"), 1715936400.0);
}

TEST(TimestampTest, AnythingElseIsNoTime) {
  for (const char* text : {"", "2024", "2024-13-01", "2023-02-29", "2024-05-17T", "2024-05-17T24:00", "2024-05-17T08:60",
                           "2024-05-17T08:30:", "2024-05-17T08:30:1.2.3", "2024-05-17T08:30:61", "2024-05-17X08:30", "2024-05-17T08:30Zulu",
                           "2024-05-17T08:30+2"}) {
    EXPECT_FALSE(parse_timestamp(text).has_value()) << text;
  }
}

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
