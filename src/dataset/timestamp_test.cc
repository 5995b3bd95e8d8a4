#include "dataset/timestamp.h"

#include <gtest/gtest.h>

namespace margin::dataset {
namespace {

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

}  // namespace
}  // namespace margin::dataset
