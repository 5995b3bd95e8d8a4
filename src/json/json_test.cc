// Request bodies: what is read, what is refused and how the refusal names its place.
#include "json/json.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <array>
#include <bit>
#include <charconv>
#include <tuple>

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

TEST(Json, NumbersAreReadAsTheStandardLibraryReadsThem) {
  JsonParser parser(8);
  Random random(5);
  const auto digits = [&](std::uint64_t most) {
    std::string out;
    for (std::uint64_t left = 1 + random.below(most); left > 0; --left) out += static_cast<char>('0' + random.below(10));
    return out;
  };
  for (int i = 0; i < 100'000; ++i) {
    std::string text = random.below(4) == 0 ? "-" : "";
    text += random.below(2) == 0 ? "0" : static_cast<char>('1' + random.below(9)) + (random.below(2) == 0 ? "" : digits(17));
    if (random.below(4) != 0) text += '.' + digits(random.below(2) == 0 ? 4 : 18);
    if (random.below(8) == 0) text += std::string(random.below(2) == 0 ? "e" : "E") + (random.below(2) == 0 ? "-" : "+") + digits(2);
    double expected = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), expected);
    const auto parsed = parser.parse("[" + text + "]");
    ASSERT_TRUE(parsed.ok()) << text;
    const double read = (*parsed)->items()[0].number();
    ASSERT_EQ(std::bit_cast<std::uint64_t>(read), std::bit_cast<std::uint64_t>(expected)) << text;
  }
}

TEST(Json, NumbersOfEveryForm) {
  JsonParser parser(8);
  for (const std::string_view text : {"0",
                                      "-0",
                                      "7",
                                      "-7",
                                      "0.5",
                                      "-0.0",
                                      "0.698",
                                      "123456789012345",
                                      "999999999999999",
                                      "0.99999999999999",
                                      "1234567.12345678",
                                      "9007199254740993",
                                      "123456789012345678901234567890",
                                      "0.1234567890123456",
                                      "1e5",
                                      "1E+05",
                                      "-1.5e-7",
                                      "0e0",
                                      "0.000000000000001",
                                      "5e-324",
                                      "2.2250738585072011e-308",
                                      "1.7976931348623157e308",
                                      "8.442911973260991817129021e-309",
                                      "100000000000000000000000"}) {
    double expected = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), expected);
    for (const std::string_view around : {"[?]", "[ ?\n]", "[?,1]", "[\t?\r,2]", R"([{"a":?}])"}) {
      std::string body(around);
      body.replace(body.find('?'), 1, text);
      const auto parsed = parser.parse(body);
      ASSERT_TRUE(parsed.ok()) << body;
      const Json& first = (*parsed)->items()[0];
      const Json& number = first.items().empty() ? first : first.items()[0];
      EXPECT_EQ(std::bit_cast<std::uint64_t>(number.number()), std::bit_cast<std::uint64_t>(expected)) << body;
      EXPECT_EQ(number.raw(), text);
    }
  }
  for (const std::string text :
       {"01", "-01", "00", "1.", "-", ".5", "+1", "1e", "1e+", "0x1", "1e400", "--1", "1.5.2", "1-2", "1_0", "1a"}) {
    EXPECT_NE(refused("[" + text + "]"), "was accepted") << text;
    EXPECT_NE(refused("[1, " + text + " ]"), "was accepted") << text;
  }
}

// A value, as it may be written and as it is to be read.
struct Written {
  Json::Type type = Json::Type::kNull;
  std::string raw, key, text;
  double number = 0.0;
  std::vector<Written> items;
};

std::string spaces(Random& random) {
  std::string out;
  while (random.below(4) == 0) out += " \t\r\n"[random.below(4)];
  return out;
}

// Quoted, and what it says.
std::pair<std::string, std::string> write_text(Random& random) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kParts{{{"a", "a"},
                                                                                         {"model", "model"},
                                                                                         {"\xc3\xa9", "\xc3\xa9"},
                                                                                         {"\\u00e9", "\xc3\xa9"},
                                                                                         {"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
                                                                                         {"\\\"", "\""},
                                                                                         {"\\\\", "\\"},
                                                                                         {"\\n", "\n"},
                                                                                         {"\\u0000", std::string_view("\0", 1)},
                                                                                         {"],", "],"},
                                                                                         {"{\\t:", "{\t:"},
                                                                                         {" ", " "}}};
  std::pair<std::string, std::string> out{"\"", ""};
  const std::uint64_t parts = random.below(3) == 0 ? 3 : kParts.size();  // often none with a backslash
  for (std::uint64_t left = random.below(10); left > 0; --left) {
    const auto& [raw, text] = kParts[random.below(parts)];
    out.first += raw;
    out.second += text;
  }
  out.first += '"';
  return out;
}

Written write_value(Random& random, int depth) {
  Written out;
  out.type = static_cast<Json::Type>(random.below(depth > 0 ? 6 : 4));
  switch (out.type) {
    case Json::Type::kNull: out.raw = "null"; break;
    case Json::Type::kFlag:
      out.number = static_cast<double>(random.below(2));
      out.raw = out.number == 1.0 ? "true" : "false";
      break;
    case Json::Type::kNumber:
      out.number = static_cast<double>(random.below(2'000'001)) / 1000.0 - 1000.0;
      out.raw.resize(32);
      out.raw.resize(static_cast<std::size_t>(std::to_chars(out.raw.data(), out.raw.data() + 32, out.number).ptr - out.raw.data()));
      break;
    case Json::Type::kText: std::tie(out.raw, out.text) = write_text(random); break;
    default:
      const bool object = out.type == Json::Type::kObject;
      out.raw = object ? "{" : "[";
      for (std::uint64_t left = random.below(12); left > 0; --left) {
        Written item = write_value(random, depth - 1);
        out.raw += (out.items.empty() ? "" : ",") + spaces(random);
        if (object) {
          const std::string number = std::to_string(out.items.size());  // no key twice
          const auto [raw, text] = write_text(random);
          item.key = number + text;
          out.raw += '"' + number + raw.substr(1) + spaces(random) + ':' + spaces(random);
        }
        out.raw += item.raw + spaces(random);
        out.items.push_back(std::move(item));
      }
      out.raw += object ? "}" : "]";
  }
  return out;
}

void expect_same(const Json& read, const Written& written) {
  ASSERT_EQ(read.type(), written.type) << written.raw;
  EXPECT_EQ(read.key(), written.key);
  EXPECT_EQ(read.text(), written.text);
  EXPECT_EQ(read.number(), written.number);
  EXPECT_EQ(read.raw(), written.raw);
  ASSERT_EQ(read.items().size(), written.items.size()) << written.raw;
  for (std::size_t i = 0; i < written.items.size(); ++i) expect_same(read.items()[i], written.items[i]);
}

TEST(Json, WhatIsWrittenIsRead) {
  JsonParser parser(8);
  Random random(11);
  for (int i = 0; i < 2000; ++i) {
    Written list;
    list.items.push_back(write_value(random, 5));
    list.type = Json::Type::kList;
    list.raw = spaces(random) + '[' + spaces(random) + list.items[0].raw + spaces(random) + ']' + spaces(random);
    const auto parsed = parser.parse(list.raw);
    ASSERT_TRUE(parsed.ok()) << list.raw << ": " << parsed.error().message;
    expect_same(**parsed, list);
  }
}

// Asks simdjson's other parser, which makes a tree of its own.
void expect_same(const Json& read, simdjson::dom::element known) {
  switch (read.type()) {
    case Json::Type::kNull: EXPECT_TRUE(known.is_null()); break;
    case Json::Type::kFlag: EXPECT_EQ(read.flag(), known.get_bool().value_unsafe()); break;
    case Json::Type::kNumber: EXPECT_EQ(read.number(), known.get_double().value_unsafe()); break;
    case Json::Type::kText: EXPECT_EQ(read.text(), known.get_string().value_unsafe()); break;
    case Json::Type::kList: {
      std::size_t at = 0;
      ASSERT_TRUE(known.is_array());
      ASSERT_EQ(read.items().size(), known.get_array().size());
      for (const auto item : known.get_array()) expect_same(read.items()[at++], item);
      break;
    }
    case Json::Type::kObject: {
      std::size_t at = 0;
      ASSERT_TRUE(known.is_object());
      ASSERT_EQ(read.items().size(), known.get_object().size());
      for (const auto [key, value] : known.get_object()) {
        EXPECT_EQ(read.items()[at].key(), key);
        expect_same(read.items()[at++], value);
      }
      break;
    }
  }
}

TEST(Json, AcceptsWhatAnotherParserAcceptsAndReadsTheSame) {
  static constexpr std::array<std::string_view, 26> kPieces{"\"",
                                                            "\\",
                                                            ",",
                                                            "{",
                                                            "}",
                                                            "[",
                                                            "]",
                                                            ":",
                                                            " ",
                                                            "\n",
                                                            "\x01",
                                                            "\x7f",
                                                            "\xc3\xa9",
                                                            "\xc3",
                                                            "\xff",
                                                            "0",
                                                            "-1.5e3",
                                                            "\\u00e9",
                                                            "\\\"",
                                                            "\"a\":1,",
                                                            "null",
                                                            "t",
                                                            "false",
                                                            "0.125",
                                                            "\xed\xa0\x80",
                                                            "a text of more than sixteen"};
  JsonParser parser(100);
  simdjson::dom::parser other;
  Random random(17);
  int accepted = 0;
  for (int i = 0; i < 40'000; ++i) {
    std::string body = '[' + write_value(random, 4).raw + ']';
    for (std::uint64_t left = random.below(4); left > 0; --left) {
      body.replace(1 + random.below(body.size() - 1), random.below(3), kPieces[random.below(kPieces.size())]);
    }
    const auto parsed = parser.parse(body);
    const auto known = other.parse(body);
    if (!parsed && parsed.error().message.find("stands twice") != std::string::npos) continue;
    ASSERT_EQ(parsed.ok(), known.error() == simdjson::SUCCESS) << body;
    if (!parsed) continue;
    ++accepted;
    expect_same(**parsed, known.value_unsafe());
  }
  EXPECT_GT(accepted, 10'000);
}

// Texts are read so many characters at a time: wherever one stands that ends a text, may not stand in it or is no letter.
TEST(Json, EveryCharacterIsReadAsByAnotherParserWhereverItStands) {
  JsonParser parser(8);
  simdjson::dom::parser other;
  for (std::size_t length = 1; length <= 34; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      for (int c = 0; c < 256; ++c) {
        std::string text(length, 'a');
        text[place] = static_cast<char>(c);
        const std::string body = place % 2 == 0 ? "[\"" + text + "\"]" : "{\"" + text + "\":1}";
        const auto parsed = parser.parse(body);
        const auto known = other.parse(body);
        ASSERT_EQ(parsed.ok(), known.error() == simdjson::SUCCESS) << body;
        if (parsed) expect_same(**parsed, known.value_unsafe());
      }
    }
  }
}

TEST(Json, OneValueAloneIsABodyAndNothingStandsBehindIt) {
  JsonParser parser(8);
  for (const std::string value : {"null", "true", "false", "1", "-2.5e3", "\"text\"", "\"\""}) {
    EXPECT_TRUE(parser.parse(value).ok()) << value;
    for (const char* more : {"[false]", "{}", ",", "}", "]", " 1", " \"", " x", " null"}) {
      EXPECT_FALSE(parser.parse(value + more).ok()) << value << more;
    }
  }
}

TEST(Json, NothingIsReadFromAPart) {
  const std::string body = R"({"a\n":[1,-2.5e3,"x\u00e9\n","y"],"b":true,"c":null,"d":{"e":[]},"f":false} )";
  JsonParser parser(8);
  for (std::size_t bytes = 0; bytes + 1 < body.size(); ++bytes) EXPECT_FALSE(parser.parse(body.substr(0, bytes)).ok()) << bytes;
  for (const std::string_view more : {"{}", ",", "}", "]", "1", "\"", "x", "null"})
    EXPECT_FALSE(parser.parse(body + std::string(more)).ok());
  EXPECT_TRUE(parser.parse(body).ok());
}

TEST(Json, RefusesWhatStandsInAWrongPlace) {
  for (const std::string_view body : {R"([1 2])",
                                      R"([1,,2])",
                                      R"([,1])",
                                      R"({"a" 1})",
                                      R"({"a":1,})",
                                      R"({"a"})",
                                      R"({"a":1 "b":2})",
                                      R"({"a",1})",
                                      R"({1:1})",
                                      R"([1})",
                                      R"({"a":1])",
                                      R"([1:2])",
                                      R"(["a""b"])",
                                      R"(["a"b])",
                                      R"([1"a"])",
                                      R"([true false])",
                                      R"([tru])",
                                      R"([truex])",
                                      R"([nul])",
                                      R"(["a])",
                                      R"(["\x"])",
                                      R"(["\ud800"])",
                                      R"({"\x":1})",
                                      "[\"\x01\"]",
                                      R"([\n])",
                                      R"(["a",\"b"])",
                                      "[}",
                                      "{]",
                                      "[",
                                      "{",
                                      "]",
                                      ":",
                                      ","}) {
    EXPECT_EQ(refused(body).find("body: expected"), 0U) << body << " gave " << refused(body);
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

TEST(Json, AKeyTwiceIsRefused) {
  EXPECT_EQ(refused(R"({"a":{"b":1,"c":2,"b":3}})"), "body: the key b stands twice in one object");
  EXPECT_EQ(refused(R"({"a":{"b":1,"c":2,"\u0062":3}})"), "body: the key b stands twice in one object");
  EXPECT_EQ(refused(R"({"":1,"":2})"), "body: the key  stands twice in one object");
  for (const int keys : {1, 2, 7, 8, 9, 10, 100}) {
    std::string body = "{";
    for (int i = 0; i < keys; ++i) body += "\"key" + std::to_string(1000 + i) + "\":1,";
    EXPECT_EQ(refused(body + R"("kez":2})"), "was accepted");
    EXPECT_EQ(refused(body + R"("key1000":2})"), "body: the key key1000 stands twice in one object");
  }
}

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

TEST(ObjectReader, KeysAreWhatTheySay) {
  JsonParser parser(8);
  const auto body = parser.parse(R"({"mod\u0065l":"x","answes":1,"answer":"y","":"z"})");
  ASSERT_TRUE(body.ok());
  ObjectReader in(**body, "");
  EXPECT_EQ(in.text("answer"), "y");
  EXPECT_EQ(in.text("model"), "x");
  EXPECT_EQ(in.text("modem"), std::nullopt);
  EXPECT_EQ(in.text(""), "z");
  EXPECT_EQ(in.finish()->message, "answes: unknown field (did you mean answer?)");
}

TEST(ObjectReader, NullIsAbsent) {
  JsonParser parser(8);
  const auto body = parser.parse(R"({"answer":null})");
  ASSERT_TRUE(body.ok());
  ObjectReader in(**body, "");
  EXPECT_EQ(in.text("answer"), std::nullopt);
  EXPECT_FALSE(in.finish().has_value());
}

// What a reader makes of an object.
template <class Reader>
auto read_fields(Reader& in, bool named, double high) {
  const auto name = named ? in.required_text("name") : in.text("name");
  const auto text = in.text("text");
  if (text == "bad") in.fail("text", "got bad");
  const auto share = in.in_range("share", 0.0, high);
  const auto flag = in.flag("flag");
  const Json* list = in.list("list");
  const auto number = in.number("number");
  const auto line = in.text("t\nxt");
  return std::tuple(name, text, share, flag, list, number, line, in.text(""));
}

TEST(PlainReader, ReadsTheSameAsTheOtherOrNothing) {
  static constexpr std::array<std::string_view, 8> kMembers{R"("name":"n")",    R"("text":"t")",  R"("share":0.5)",      R"("flag":true)",
                                                            R"("list":[1,[]])", R"("number":-1)", R"("t\nxt":"\u00e9")", R"("":"")"};
  static constexpr std::array<std::string_view, 9> kOdd{R"("name":null)", R"("text":"bad")", R"("share":2)",
                                                        R"("flag":1)",    R"("list":{})",    R"("number":"1")",
                                                        R"("naem":"n")",  R"("x":[])",       R"("flag":null)"};
  JsonParser parser(8);
  Random random(23);
  int plain_ones = 0;
  int refused_ones = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::vector<std::string_view> members;
    for (const std::string_view member : kMembers) {
      if (random.below(3) != 0) members.push_back(member);
    }
    if (members.empty()) members.push_back(kMembers[1]);
    if (random.below(4) == 0) std::swap(members[random.below(members.size())], members[random.below(members.size())]);
    if (random.below(4) == 0) members[random.below(members.size())] = kOdd[random.below(kOdd.size())];
    std::string text;
    for (const std::string_view member : members) text += (text.empty() ? "" : ",") + std::string(member);
    text = random.below(50) == 0 ? "[]" : "{" + text + "}";
    const auto parsed = parser.parse(text);
    if (!parsed) continue;  // a key twice
    const bool named = random.below(2) == 0;
    const double high = random.below(4) == 0 ? 0.25 : 1.0;
    PlainReader plain(**parsed);
    ObjectReader thorough(**parsed, "");
    const auto read = read_fields(plain, named, high);
    const auto known = read_fields(thorough, named, high);
    const bool refused = thorough.finish().has_value();
    refused_ones += refused ? 1 : 0;
    if (!plain.finish()) continue;
    ++plain_ones;
    ASSERT_FALSE(refused) << text;
    ASSERT_TRUE(read == known) << text;
  }
  EXPECT_GT(plain_ones, 5'000);
  EXPECT_GT(refused_ones, 5'000);
}

TEST(PlainReader, ReadsWhatIsPlain) {
  JsonParser parser(8);
  for (const std::string_view text : {R"({"name":"n","text":"t","share":0.5,"flag":true,"list":[],"number":1,"t\nxt":"x","":"y"})",
                                      R"({"name":"n"})", R"({"name":"n","share":1,"number":-1})"}) {
    const auto parsed = parser.parse(text);
    ASSERT_TRUE(parsed.ok()) << text;
    PlainReader plain(**parsed);
    EXPECT_EQ(std::get<0>(read_fields(plain, true, 1.0)), "n");
    EXPECT_TRUE(plain.finish()) << text;
  }
}

}  // namespace
}  // namespace margin
