#include "base/text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/write_plain.h"
#include "margin/random.h"

namespace margin::internal {
namespace {

TEST(TextTest, ControlCodesBecomeVisible) {
  EXPECT_EQ(printable("plain, é and 漢字"), "plain, é and 漢字");
  EXPECT_EQ(printable("\x1b[2J\r\n\x7f"), "\\x1b[2J\\x0d\\x0a\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");                                                        // C1 control sequence introducer
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");                                               // right-to-left override
  EXPECT_EQ(printable("\xd8\x9c\xef\xbb\xbf\xef\xbf\xbf"), "\\xd8\\x9c\\xef\\xbb\\xbf\\xef\\xbf\\xbf");  // other marks, U+FFFF
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");                                                        // not UTF-8
  EXPECT_EQ(printable("\xc0\x9b\xed\xa0\x80"), "\\xc0\\x9b\\xed\\xa0\\x80");                             // overlong, surrogate
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                                                        // cut off
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
  EXPECT_EQ(json_number(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(json_number(-std::numeric_limits<double>::infinity()), "null");
}

TEST(TextTest, NumbersAreWrittenAsTheStandardLibraryWritesThem) {
  const auto by_to_chars = [](double value) {
    char buffer[kShortestMax];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  };
  for (int i = -10; i <= 20'010; ++i) {
    const double value = i / 10'000.0;
    for (const double near : {value, std::nextafter(value, -1.0), std::nextafter(value, 3.0), value / 10.0, value * 1e6}) {
      ASSERT_EQ(shortest(near), by_to_chars(near));
    }
  }
}

TEST(TextTest, RoundedNumbersAreTheNearestOfTwelvePlaces) {
  const auto rounded = [](double value) {
    char buffer[kRoundedMax];
    return std::string(buffer, write_rounded(buffer, value));
  };
  const auto by_to_chars = [](double value) {
    char buffer[64];
    std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, 12).ptr);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  Random random(3);
  for (int i = 0; i < 200'000; ++i) {
    const double value = (random.uniform() - 0.3) * (i % 3 == 0 ? 1.0 : i % 3 == 1 ? 30.0 : 999.0);
    if (std::fabs(value) < 1e-4) continue;
    // Within a rounding of the product by 10^12 of half a unit, either neighbour is as near.
    const std::string text = rounded(value);
    if (text != by_to_chars(value)) {
      ASSERT_NEAR(std::stod(text), value, 0.57e-12 + 1.2e-13) << text;
    }
    ASSERT_LE(text.size(), 17U);
  }
  for (int i = 10; i < 10'000; ++i) ASSERT_EQ(rounded(i / 10'000.0), shortest(i / 10'000.0));
  EXPECT_EQ(rounded(0.0001), "0.0001");
  EXPECT_EQ(rounded(0.0), "0");
  EXPECT_EQ(rounded(-0.0), "0");
  EXPECT_EQ(rounded(1.0), "1");
  EXPECT_EQ(rounded(-2.5), "-2.5");
  EXPECT_EQ(rounded(123456789.0), "123456789");
  EXPECT_EQ(rounded(999.9999999999999), "1000");
  EXPECT_EQ(rounded(1.0 / 3.0), "0.333333333333");
  EXPECT_EQ(rounded(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(rounded(-std::numeric_limits<double>::infinity()), "null");
  for (const double kept : {1234.5678901234567, 1e9, 12345678901.5, 9.87654321e-5, 5e-324, std::numeric_limits<double>::max()}) {
    EXPECT_EQ(rounded(kept), shortest(kept));
  }
}

TEST(TextTest, RoundedNumbersHaveTheDigitsOfTheirUnits) {
  const auto plainly = [](double value) {
    constexpr std::int64_t kOne = 1'000'000'000'000;
    const auto units = static_cast<std::int64_t>(std::fabs(value) * 1e12 + 0.5);
    std::string text = std::to_string(kOne + units % kOne).replace(0, 1, ".");
    text.erase(text.find_last_not_of('0') + 1);
    return (value < 0.0 ? "-" : "") + std::to_string(units / kOne) + (text == "." ? "" : text);
  };
  std::vector<double> values;
  Random random(5);
  for (int i = 0; i < 300'000; ++i) {
    const double any = random.uniform() * std::pow(10.0, static_cast<double>(random.below(8)) - 4.0);
    // A decimal of few places, or of many nines or zeros.
    const double places = std::pow(10.0, static_cast<double>(random.below(13)));
    const double few = std::round(any * places) / places;
    values.insert(values.end(), {any, few, few - 1e-12, few + 1e-12, std::nextafter(few, 0.0), -few, std::floor(any)});
  }
  for (int i = 0; i < 1'000'000; i += 7) values.insert(values.end(), {i / 1e6, 1.0 + i / 1e12, 999.0 + i / 1e6});
  for (const double value : values) {
    if (std::fabs(value) < 1e-4 || std::fabs(value) >= 1e3) continue;
    char buffer[kRoundedMax];
    ASSERT_EQ(std::string(buffer, write_rounded(buffer, value)), plainly(value)) << shortest(value);
  }
}

TEST(TextTest, WhatNeedsNoEscapingIsKnownByEveryByteAndPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    const bool expected = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
    for (std::size_t length = 1; length <= 50; length += length < 20 ? 1 : 5) {
      for (std::size_t place = 0; place < length; ++place) {
        for (const char around : {' ', '~', 'a'}) {
          std::string text(length, around);
          text[place] = c;
          std::string written(length + 1, '#');  // nothing is written behind the text
          const char* const end = write_plain(written.data(), text);
          ASSERT_EQ(end != nullptr, expected) << byte << " at " << place << " of " << length;
          if (expected) {
            ASSERT_EQ(written, text + '#');
          }
        }
      }
    }
  }
}

TEST(JsonWriterTest, PutsCommasAndEscapesWhereTheyBelong) {
  JsonWriter out;
  out.open('{').key("n").number(3).key("list").open('[').number(0.25).text("plain").text("a\"\n").null().flag(true).close(']');
  out.foreign_key("odd\"key")
      .raw("{}")
      .key("empty")
      .open('[')
      .close(']')
      .key("nothing")
      .text({})
      .key("gone")
      .number(std::nan(""))
      .key("big")
      .number(1e300);
  out.close('}');
  const std::string expected =
      R"({"n":3,"list":[0.25,"plain","a\"\u000a",null,true],"odd\"key":{},"empty":[],"nothing":"","gone":null,"big":1e+300})";
  EXPECT_EQ(out.str(), expected);
  EXPECT_EQ(out.take(), expected);
}

TEST(JsonWriterTest, TextsOfAnySizeFindRoom) {
  JsonWriter out;
  std::string expected;
  out.open('[');
  for (std::size_t i = 0; i < 2'000; ++i) {
    const std::string text(i * 7 % 41, 'x');
    out.text(text);
    expected += (i == 0 ? "[\"" : ",\"") + text + '"';
    ASSERT_EQ(out.str(), expected);
  }
}

}  // namespace
}  // namespace margin::internal
