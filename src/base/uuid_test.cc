#include "margin/uuid.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

namespace margin {
namespace {

constexpr const char* kText = "0190b5a2-7c3e-7d11-8a4f-2b6c9d0e1f23";

TEST(Uuid, ParsesItsTextForm) {
  const auto uuid = Uuid::parse(kText);
  ASSERT_TRUE(uuid.ok());
  EXPECT_EQ(uuid->high, 0x0190b5a27c3e7d11U);
  EXPECT_EQ(uuid->low, 0x8a4f2b6c9d0e1f23U);
  EXPECT_EQ(uuid->text(), kText);
  EXPECT_EQ(uuid->time_ms(), 0x0190b5a27c3e);
}

TEST(Uuid, AcceptsEitherCaseAndWritesLowerCase) {
  std::string upper = kText;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto uuid = Uuid::parse(upper);
  ASSERT_TRUE(uuid.ok());
  EXPECT_EQ(uuid->text(), kText);
}

TEST(Uuid, RoundTripsRandomIds) {
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const Uuid uuid{random.bits(), random.bits()};
    const auto parsed = Uuid::parse(uuid.text());
    ASSERT_TRUE(parsed.ok());
    ASSERT_EQ(*parsed, uuid);
  }
}

TEST(Uuid, RefusesWhatIsNotAUuid) {
  const std::string good = kText;
  for (const std::string& bad : {std::string(), good.substr(1), good + "0", std::string(36, '0'), std::string(36, '-'),
                                 "{" + good.substr(2) + "}", std::string(36, '\0')}) {
    const auto uuid = Uuid::parse(bad);
    ASSERT_FALSE(uuid.ok()) << bad;
    EXPECT_EQ(uuid.error().code, ErrorCode::kInvalidArgument);
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'g', 'G', '/', ':', '@', '`', ' ', '\0', '\xff', good[i] == '-' ? '0' : '-'}) {
      std::string bad = good;
      bad[i] = c;
      EXPECT_FALSE(Uuid::parse(bad).ok()) << bad;
    }
  }
}

TEST(Uuid, MadeIdsAreVersion7AndHoldTheirTime) {
  Random random(2);
  for (const std::int64_t time : {std::int64_t{0}, std::int64_t{1'700'000'000'123}, (std::int64_t{1} << 48) - 1}) {
    const Uuid uuid = Uuid::make(time, random);
    EXPECT_EQ(uuid.text()[14], '7');
    EXPECT_NE(std::string("89ab").find(uuid.text()[19]), std::string::npos);
    EXPECT_EQ(uuid.time_ms(), time);
  }
}

TEST(Uuid, LaterIdsSortLaterAndNoneRepeats) {
  Random random(3);
  EXPECT_LT(Uuid::make(1000, random), Uuid::make(1001, random));
  std::set<Uuid> seen;
  std::uint64_t ones = 0;
  std::uint64_t zeros = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Uuid uuid = Uuid::make(5, random);
    seen.insert(uuid);
    ones |= uuid.low;
    zeros |= ~uuid.low;
  }
  EXPECT_EQ(seen.size(), 10'000U);
  EXPECT_EQ(ones, 0xbfffffffffffffffU);   // 62 random bits below the variant
  EXPECT_EQ(zeros, 0x7fffffffffffffffU);  // and the variant's 10
}

TEST(UuidDeathTest, ATimeBeyond48BitsStopsTheProgram) {
  Random random(4);
  EXPECT_DEATH((void)Uuid::make(std::int64_t{1} << 48, random), "48 bits");
  EXPECT_DEATH((void)Uuid::make(-1, random), "48 bits");
}

TEST(Uuid, FirstHalvesOfLaterOnesGrowAndTheTimeHardly) {
  Random random(3);
  const Uuid first = Uuid::make(1'700'000'000'123, random);
  Uuid last = first;
  std::set<std::uint64_t> halves;
  for (int i = 0; i < 100'000; ++i) {
    const Uuid next = last.later(random);
    ASSERT_LT(last.high, next.high);
    ASSERT_EQ((next.high >> 12) & 0xf, 7U);
    ASSERT_EQ(next.low >> 62, 2U);
    halves.insert(next.low);
    last = next;
  }
  EXPECT_EQ(halves.size(), 100'000U);
  // Half of the 4,096 there are on average, where a millisecond begins at a random one.
  EXPECT_NEAR(static_cast<double>(last.time_ms() - first.time_ms()), 100'000.0 / 2048.5, 15.0);
}

TEST(Uuid, LaterThanTheLastOfAMillisecondIsOfTheNext) {
  Random random(4);
  const Uuid counts{0x0190b5a27c3e7d11U, 0xbfffffffffffffffU};
  EXPECT_EQ(counts.later(random).high, 0x0190b5a27c3e7d12U);
  const Uuid last{0x0190b5a27c3e7fffU, 0xbfffffffffffffffU};
  const Uuid beyond = last.later(random);
  EXPECT_EQ(beyond.time_ms(), last.time_ms() + 1);
  EXPECT_EQ((beyond.high >> 12) & 0xf, 7U);
  EXPECT_EQ(beyond.low >> 62, 2U);
}

}  // namespace
}  // namespace margin
