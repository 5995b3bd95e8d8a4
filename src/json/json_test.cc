// Request bodies: what is read, what is refused and how the refusal names its place.
#include "json/json.h"

#include <gtest/gtest.h>

#include <charconv>

#include "margin/random.h"

namespace margin {
namespace {

std::string refused(std::string_view body, std::size_t depth = 8) {
  JsonParser parser(depth);
  const auto parsed = parser.parse(body);
  return parsed ? "was accepted" : parsed.error().message;
}

TEST(Json, ValuesKeepTheirTextByteForByte) {
  JsonParser parser(8);
  const auto parsed = parser.parse(R"({"a" : [1, {"b":"\u00e9" } ] , "c":1.0e+02 ,"d":"x\n" , "e":null })");
  ASSERT_TRUE(parsed.ok());
  const Json& body = **parsed;
  EXPECT_EQ(body.find("a")->raw(), R"([1, {"b":"\u00e9" } ])");
  EXPECT_EQ(body.find("a")->items()[1].raw(), R"({"b":"\u00e9" })");
  EXPECT_EQ(body.find("c")->raw(), "1.0e+02");
  EXPECT_EQ(body.find("d")->raw(), R"("x\n")");
  EXPECT_EQ(body.find("e")->raw(), "null");
}

TEST(Json, ReadsEveryType) {
  JsonParser parser(8);
  const auto parsed = parser.parse(R"({"a":[1,-2.5e3,"x\u00e9\n"],"b":true,"c":null,"d":{}})");
  ASSERT_TRUE(parsed.ok());
  const Json& body = **parsed;
  ASSERT_EQ(body.items().size(), 4U);
  EXPECT_EQ(body.find("a")->items()[1].number(), -2500.0);
  EXPECT_EQ(body.find("a")->items()[2].text(), "x\xc3\xa9\n");
  EXPECT_TRUE(body.find("b")->flag());
  EXPECT_TRUE(body.find("c")->is_null());
  EXPECT_EQ(body.find("d")->type(), Json::Type::kObject);
  EXPECT_EQ(body.find("e"), nullptr);
}

TEST(Json, AParserIsUsedAgain) {
  JsonParser parser(8);
  ASSERT_TRUE(parser.parse(R"({"a":[1,2,3]})").ok());
  ASSERT_FALSE(parser.parse(R"({"a":[1,2,)").ok());
  const auto parsed = parser.parse(R"([{"x":7}])");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ((*parsed)->items()[0].find("x")->number(), 7.0);
}

TEST(Json, NumbersAreReadToTheLastBitWhateverTheirLength) {
  JsonParser parser(8);
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text = "0.";
    const auto digits = 1 + random.below(40);
    for (std::uint64_t d = 0; d < digits; ++d) text += static_cast<char>('0' + random.below(10));
    double expected = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), expected);
    const auto parsed = parser.parse("[" + text + " ]");
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ((*parsed)->items()[0].number(), expected) << text;
  }
}

TEST(Json, RefusesWhatIsNotOneValue) {
  for (const std::string_view body :
       {"", "{", "{} {}", "{\"a\":}", "[1,]", "nul", "[nulx]", "[NaN]", "[1e999999]", "\"\xff\"", "{a:1}", "[01]"}) {
    EXPECT_EQ(refused(body).find("body: expected"), 0U) << body << " gave " << refused(body);
  }
}

TEST(Json, DepthIsBoundedExactly) {
  EXPECT_EQ(refused("[[[1]]]", 3), "was accepted");
  EXPECT_EQ(refused("[[[[1]]]]", 3), "body: nested too deep, expected at most 3 levels");
  EXPECT_NE(refused(std::string(100'000, '['), 32), "was accepted");
}

TEST(Json, AKeyTwiceIsRefused) { EXPECT_EQ(refused(R"({"a":{"b":1,"c":2,"b":3}})"), "body: the key b stands twice in one object"); }

TEST(ObjectReader, NamesTheFirstProblemAndItsPlace) {
  JsonParser parser(8);
  const auto body = parser.parse(R"({"model":7,"confidence":1.5})");
  ASSERT_TRUE(body.ok());
  ObjectReader in(**body, "responses[2]");
  EXPECT_EQ(in.text("model"), std::nullopt);
  EXPECT_EQ(in.in_range("confidence", 0.0, 1.0), 1.5);
  const auto fault = in.finish();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->param, "responses[2].model");
  EXPECT_EQ(fault->message, "responses[2].model: got a number, expected text");
}

TEST(ObjectReader, WhatNobodyAskedForIsRefusedWithASuggestion) {
  JsonParser parser(8);
  const auto body = parser.parse(R"({"confidnce":0.5})");
  ASSERT_TRUE(body.ok());
  ObjectReader in(**body, "");
  EXPECT_EQ(in.number("confidence"), std::nullopt);
  EXPECT_EQ(in.finish()->message, "confidnce: unknown field (did you mean confidence?)");
}

TEST(ObjectReader, MembersComeInAnyOrderAndNumber) {
  // Every member is asked for, in another order than they stand; one more is refused wherever it stands.
  for (const int members : {1, 2, 5, 63, 64, 65, 66, 200}) {
    for (const int extra : {-1, 0, members / 2, members}) {
      std::string text = "{";
      for (int i = 0; i <= members; ++i) {
        if (i == extra) text += (text.size() > 1 ? "," : "") + std::string(R"("odd":1)");
        if (i < members) text += (text.size() > 1 ? "," : "") + ('"' + std::to_string(i) + "\":" + std::to_string(7 * i));
      }
      JsonParser parser(8);
      const auto body = parser.parse(text + "}");
      ASSERT_TRUE(body.ok());
      ObjectReader in(**body, "");
      std::vector<std::string> keys;
      for (int i = members - 1; i >= 0; --i) keys.push_back(std::to_string(i));
      for (int round = 0; round < 2; ++round) {  // asking again changes nothing
        for (const std::string& key : keys) ASSERT_EQ(in.number(key), 7.0 * std::stoi(key));
      }
      EXPECT_EQ(in.number("absent"), std::nullopt);
      const auto fault = in.finish();
      ASSERT_EQ(fault.has_value(), extra >= 0) << members << " " << extra;
      if (fault) {
        EXPECT_EQ(fault->param, "odd");
      }
    }
  }
}

TEST(ObjectReader, NullIsAbsent) {
  JsonParser parser(8);
  const auto body = parser.parse(R"({"answer":null})");
  ASSERT_TRUE(body.ok());
  ObjectReader in(**body, "");
  EXPECT_EQ(in.text("answer"), std::nullopt);
  EXPECT_FALSE(in.finish().has_value());
}

}  // namespace
}  // namespace margin
