#include "base/utc.h"

#include <gtest/gtest.h>

#include <ctime>

#include "margin/random.h"

namespace margin::internal {
namespace {

// What the C library writes.
std::string reference(std::int64_t time_ms) {
  const std::int64_t within = ((time_ms % 1000) + 1000) % 1000;
  const std::time_t seconds = (time_ms - within) / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                parts.tm_hour, parts.tm_min, parts.tm_sec, static_cast<int>(within));
  return text;
}

TEST(Utc, WritesWhatTheCLibraryWrites) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc_text(1'715'934'615'250), "2024-05-17T08:30:15.250Z");
  for (const std::int64_t ms : {-1L, 951'782'400'000L, 951'868'799'999L, 4'107'542'400'000L, -62'167'219'200'000L, 253'402'300'799'999L}) {
    EXPECT_EQ(utc_text(ms), reference(ms));
  }
  Random random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto ms =
        static_cast<std::int64_t>(random.below(253'402'300'800'000)) - static_cast<std::int64_t>(random.below(62'000'000'000'000));
    ASSERT_EQ(utc_text(ms), reference(ms)) << ms;
  }
}

TEST(Utc, TimesNobodyCanMeanStayWithinTheFormat) {
  EXPECT_EQ(utc_text(INT64_MAX), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(utc_text(INT64_MIN), "0000-01-01T00:00:00.000Z");
}

}  // namespace
}  // namespace margin::internal
