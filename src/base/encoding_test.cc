#include "base/encoding.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace margin::internal {
namespace {

struct Sample {
  std::uint8_t small = 0;
  std::int16_t negative = 0;
  std::uint32_t word = 0;
  std::int64_t time = 0;
  bool yes = false;
  double real = 0.0;
  std::string text;
  std::vector<double> reals;
};

std::string encode(const Sample& sample) {
  Encoder out;
  out.integer(sample.small);
  out.integer(sample.negative);
  out.integer(sample.word);
  out.integer(sample.time);
  out.flag(sample.yes);
  out.real(sample.real);
  out.text(sample.text);
  out.reals(sample.reals);
  return out.take();
}

Sample decode(Decoder& in) {
  Sample sample;
  sample.small = in.integer<std::uint8_t>();
  sample.negative = in.integer<std::int16_t>();
  sample.word = in.integer<std::uint32_t>();
  sample.time = in.integer<std::int64_t>();
  sample.yes = in.flag();
  sample.real = in.real();
  sample.text = in.text();
  sample.reals = in.reals();
  return sample;
}

const Sample kSample{.small = 200,
                     .negative = -2,
                     .word = 0xdeadbeef,
                     .time = std::numeric_limits<std::int64_t>::min(),
                     .yes = true,
                     .real = -0.0,
                     .text = std::string("a\0b", 3),
                     .reals = {0.1, std::numeric_limits<double>::denorm_min(), -std::numeric_limits<double>::infinity()}};

TEST(Encoding, BytesAreLittleEndianAndLengthsComeFirst) {
  Encoder out;
  out.integer(std::uint16_t{0x1234});
  out.integer(std::int32_t{-2});
  out.real(1.0);
  out.text("hi");
  out.flag(true);
  EXPECT_EQ(out.bytes(), std::string("\x34\x12"
                                     "\xfe\xff\xff\xff"
                                     "\0\0\0\0\0\0\xf0\x3f"
                                     "\x02\0\0\0\0\0\0\0hi"
                                     "\x01",
                                     2 + 4 + 8 + 10 + 1));
}

TEST(Encoding, WhatWasWrittenIsReadBack) {
  const std::string bytes = encode(kSample);
  Decoder in(bytes);
  const Sample read = decode(in);
  EXPECT_TRUE(in.finish("sample").ok());
  EXPECT_EQ(read.small, kSample.small);
  EXPECT_EQ(read.negative, kSample.negative);
  EXPECT_EQ(read.word, kSample.word);
  EXPECT_EQ(read.time, kSample.time);
  EXPECT_EQ(read.yes, kSample.yes);
  EXPECT_TRUE(read.real == 0.0 && std::signbit(read.real));
  EXPECT_EQ(read.text, kSample.text);
  EXPECT_EQ(read.reals, kSample.reals);
}

TEST(Encoding, NaNKeepsItsBits) {
  const std::uint64_t payload = 0x7ff8000000001234;
  Encoder out;
  out.real(std::bit_cast<double>(payload));
  Decoder in(out.bytes());
  EXPECT_EQ(std::bit_cast<std::uint64_t>(in.real()), payload);
}

TEST(Encoding, TruncationAtEveryByteIsRefused) {
  const std::string bytes = encode(kSample);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Decoder in(std::string_view(bytes).substr(0, size));
    (void)decode(in);
    const Status status = in.finish("sample");
    ASSERT_FALSE(status.ok()) << "accepted the first " << size << " bytes of " << bytes.size();
    ASSERT_EQ(status.error().code, ErrorCode::kCorrupt);
  }
}

TEST(Encoding, LeftOverBytesAreRefused) {
  const std::string bytes = encode(kSample) + '\0';
  Decoder in(bytes);
  (void)decode(in);
  EXPECT_TRUE(in.ok());
  EXPECT_GT(in.remaining(), 0U);
  EXPECT_FALSE(in.finish("sample").ok());
}

TEST(Encoding, ALengthBeyondTheBytesAsksForNoMemory) {
  Encoder out;
  out.integer(std::uint64_t{1} << 60);
  out.real(1.0);
  Decoder texts(out.bytes());
  EXPECT_EQ(texts.text(), "");
  EXPECT_FALSE(texts.ok());
  Decoder reals(out.bytes());
  EXPECT_TRUE(reals.reals().empty());
  EXPECT_FALSE(reals.ok());

  // One whole double follows, so one element is believed and two are not.
  Encoder two;
  two.integer(std::uint64_t{2});
  two.real(1.0);
  Decoder short_by_one(two.bytes());
  EXPECT_TRUE(short_by_one.reals().empty());
  EXPECT_FALSE(short_by_one.ok());
}

TEST(Encoding, AFlagIsZeroOrOne) {
  Decoder in(std::string_view("\x02", 1));
  EXPECT_FALSE(in.flag());
  EXPECT_FALSE(in.ok());
}

TEST(Encoding, AfterAFailureEveryReadGivesZero) {
  const std::string bytes = encode(kSample);
  Decoder in(bytes);
  in.fail();
  EXPECT_EQ(in.integer<std::uint32_t>(), 0U);
  EXPECT_EQ(in.real(), 0.0);
  EXPECT_EQ(in.text(), "");
  EXPECT_FALSE(in.finish("sample").ok());
}

TEST(EncodingTest, ValuesTogetherAreWrittenAsEachAlone) {
  Encoder together;
  together.values(std::uint8_t{0xab}, true, -2.5, std::uint64_t{0x0102030405060708}, std::int32_t{-2}, false);
  Encoder alone;
  alone.integer(std::uint8_t{0xab});
  alone.flag(true);
  alone.real(-2.5);
  alone.integer(std::uint64_t{0x0102030405060708});
  alone.integer(std::int32_t{-2});
  alone.flag(false);
  EXPECT_EQ(together.bytes(), alone.bytes());
  EXPECT_EQ(alone.bytes(), std::string("\xab\x01"
                                       "\0\0\0\0\0\0\x04\xc0"
                                       "\x08\x07\x06\x05\x04\x03\x02\x01"
                                       "\xfe\xff\xff\xff\0",
                                       23));
}

TEST(EncodingTest, SmallNumbersTakeAByteForSevenBits) {
  for (const auto& [value, bytes] : std::vector<std::pair<std::uint32_t, std::size_t>>{{0, 1},
                                                                                       {1, 1},
                                                                                       {127, 1},
                                                                                       {128, 2},
                                                                                       {16'383, 2},
                                                                                       {16'384, 3},
                                                                                       {2'097'151, 3},
                                                                                       {2'097'152, 4},
                                                                                       {268'435'456, 5},
                                                                                       {0xffffffff, 5}}) {
    Encoder out;
    out.values(Small{value}, std::uint8_t{7});
    EXPECT_EQ(out.bytes().size(), bytes + 1) << value;
    Decoder in(out.bytes());
    EXPECT_EQ(in.small(), value);
    EXPECT_EQ(in.integer<std::uint8_t>(), 7);
    EXPECT_TRUE(in.finish("it").ok()) << value;
  }
}

TEST(EncodingTest, SmallNumbersOfMoreBytesOrBitsThanNeededAreRefused) {
  using namespace std::string_view_literals;
  for (const std::string_view bytes :
       {""sv, "\x80"sv, "\x80\0"sv, "\xff\x80\0"sv, "\xff\xff\xff\xff\x10"sv, "\xff\xff\xff\xff\xff\x01"sv}) {
    Decoder in(bytes);
    EXPECT_EQ(in.small(), 0u);
    EXPECT_FALSE(in.ok()) << testing::PrintToString(bytes);
  }
}

TEST(EncodingTest, SmallLengthsAreHeldAgainstWhatRemains) {
  const std::string bytes =
      "\x02"
      "abcd";
  Decoder fits(bytes);
  EXPECT_EQ(fits.small_length(2), 2u);
  Decoder does_not(bytes);
  EXPECT_EQ(does_not.small_length(3), 0u);
  EXPECT_FALSE(does_not.ok());
}

}  // namespace
}  // namespace margin::internal
