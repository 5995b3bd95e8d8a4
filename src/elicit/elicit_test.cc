// Templates, agreement, and what holds for any reply; the readings themselves are in tests/elicit/corpus.
#include "elicit/elicit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "json/json.h"
#include "margin/digest.h"

namespace margin::elicit {
namespace {

constexpr Mode kAsking[] = {Mode::kLine, Mode::kSchema};

TEST(Names, AreReadBackAndNearOnesSuggested) {
  for (const Task task : kTasks) EXPECT_EQ(find_task(name_of(task)).value(), task);
  for (const Mode mode : {Mode::kOff, Mode::kLine, Mode::kSchema}) EXPECT_EQ(find_mode(name_of(mode)).value(), mode);
  const Result<Task> wrong = find_task("chioce");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(wrong.error().message, "no task named chioce (did you mean choice?)");
  EXPECT_FALSE(find_mode("on"));
}

TEST(Templates, OffSaysNothing) {
  for (const Task task : kTasks) {
    const Template& off = find_template(task, Mode::kOff);
    EXPECT_EQ(off.name, std::string(name_of(task)) + "/off@1");
    EXPECT_EQ(off.instructions, "");
    EXPECT_EQ(off.response_format, "");
  }
}

TEST(Templates, TheirExamplesAreReadWithoutLoss) {
  for (const Task task : kTasks) {
    for (const Mode mode : kAsking) {
      const Template& asked = find_template(task, mode);
      SCOPED_TRACE(asked.name);
      const Reading reading = read_reply(task, mode, asked.example);
      EXPECT_EQ(reading.confidence, 0.8);
      EXPECT_NE(reading.answer, "");
      EXPECT_FALSE(reading.malformed || reading.refused);
    }
  }
}

TEST(Templates, BothModesGetTheSameAnswerFromTheirExamples) {
  for (const Task task : kTasks) {
    const Reading line = read_reply(task, Mode::kLine, find_template(task, Mode::kLine).example);
    const Reading schema = read_reply(task, Mode::kSchema, find_template(task, Mode::kSchema).example);
    EXPECT_EQ(line.answer, schema.answer) << name_of(task);
  }
}

TEST(Templates, AModelThatRepeatsThemStatesNoConfidence) {
  for (const Task task : kTasks) {
    for (const Mode mode : kAsking) {
      EXPECT_EQ(read_reply(task, mode, find_template(task, mode).instructions).confidence, std::nullopt) << find_template(task, mode).name;
    }
  }
}

// Calibration is per template, so another text under the same name would mix two.
TEST(Templates, AnotherTextIsAnotherVersion) {
  std::string all;
  for (const Task task : kTasks) {
    for (const Mode mode : kAsking) {
      const Template& asked = find_template(task, mode);
      all += std::string(asked.name) + '\n' + std::string(asked.instructions) + '\n' + std::string(asked.response_format) + '\n';
    }
  }
  EXPECT_EQ(digest_of(all).hex(), "aa90b2acb2aad42d6b7f6aa3f9eb8069")
      << "change the version of the template whose text has changed, then this digest";
}

TEST(Templates, TheResponseFormatIsAStrictSchema) {
  JsonParser parser(16);
  const Result<const Json*> format = parser.parse(find_template(Task::kFree, Mode::kSchema).response_format);
  ASSERT_TRUE(format);
  EXPECT_EQ((*format)->find("type")->text(), "json_schema");
  const Json* named = (*format)->find("json_schema");
  EXPECT_TRUE(named->find("strict")->flag());
  const Json* schema = named->find("schema");
  EXPECT_EQ(schema->find("type")->text(), "object");
  EXPECT_EQ(schema->find("additionalProperties")->type(), Json::Type::kFlag);
  EXPECT_FALSE(schema->find("additionalProperties")->flag());
  // Strict schemas require every property to be required; and the answer comes first, as it is to be thought of first.
  std::vector<std::string_view> properties;
  for (const Json& property : schema->find("properties")->items()) properties.push_back(property.key());
  std::vector<std::string_view> required;
  for (const Json& key : schema->find("required")->items()) required.push_back(key.text());
  EXPECT_EQ(properties, (std::vector<std::string_view>{"answer", "confidence"}));
  EXPECT_EQ(required, properties);
}

TEST(Agreement, CountsSamplesThatEqualTheFirst) {
  const std::vector<std::string> samples = {"1/2", "0.5", "$\\frac{1}{2}$", "2", ""};
  EXPECT_EQ(agreement(Task::kMath, samples), 3.0 / 5.0);
  EXPECT_EQ(agreement(Task::kFree, std::vector<std::string>{"The cat.", "cat"}), 1.0);
  EXPECT_EQ(agreement(Task::kChoice, std::vector<std::string>{"B"}), 1.0);
}

TEST(Agreement, NeedsAFirstAnswer) {
  EXPECT_EQ(agreement(Task::kFree, {}), std::nullopt);
  EXPECT_EQ(agreement(Task::kFree, std::vector<std::string>{"", "x"}), std::nullopt);
}

TEST(ReadReply, KeepsWindowsLineEnds) {
  const Reading reading = read_reply(Task::kFree, Mode::kLine, "one\r\ntwo\r\n\r\nConfidence: 85\r\n");
  EXPECT_EQ(reading.confidence, 0.85);
  EXPECT_EQ(reading.shown, "one\r\ntwo");
}

TEST(ReadReply, TakesBytesThatAreNotText) {
  const std::string reply = std::string("\0\xff\xfe\x80", 4) + "\nConfidence: 85";
  const Reading reading = read_reply(Task::kFree, Mode::kLine, reply);
  EXPECT_EQ(reading.confidence, 0.85);
  EXPECT_EQ(reading.shown, reply.substr(0, 4));
}

std::string repeated(std::string_view text, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += text;
  return out;
}

struct Hostile {
  const char* name;
  const char* begin;
  const char* repeat;
};
constexpr Hostile kHostile[] = {
    {"confidence lines", "", "Confidence: 85\n"},
    {"labels without numbers", "", "Confidence: "},
    {"open fences", "", "```\n~~~\n"},
    {"nested quotations", "", "> > > > "},
    {"open boxes", "", "\\boxed{"},
    {"answer lines", "", "Answer: B\n"},
    {"statements", "", "the answer is B, "},
    {"open tags", "", "<think>"},
    {"closing tags", "", "</think>\n"},
    {"tag pairs", "", "<think></think>"},
    {"braces", "{\"confidence\"", "{"},
    {"emphasis", "Confidence: ", "*"},
    {"newlines", "", "\n"},
    {"apologies", "", "I'm sorry, but "},
};

TEST(ReadReply, TimeGrowsWithTheLengthAloneWhateverTheReply) {
  for (const Hostile& hostile : kHostile) {
    const auto fastest = [&](std::size_t bytes) {
      const std::string reply = hostile.begin + repeated(hostile.repeat, bytes);
      // Processor time: others on the machine do not count.
      std::clock_t best = std::numeric_limits<std::clock_t>::max();
      for (int i = 0; i < 5; ++i) {
        const std::clock_t start = std::clock();
        for (const Task task : kTasks) {
          for (const Mode mode : kAsking) EXPECT_LE(read_reply(task, mode, reply).shown.size(), reply.size());
        }
        best = std::min(best, std::clock() - start);
      }
      return static_cast<double>(std::max<std::clock_t>(best, 1));
    };
    // 32 times the bytes: 32 times the time if linear, 1024 times if quadratic.
    EXPECT_LT(fastest(1 << 17) / fastest(1 << 12), 200.0) << hostile.name;
  }
}

TEST(ReadReply, AMegabyteOfConfidenceIsReadLikeALine) {
  const Reading reading = read_reply(Task::kFree, Mode::kLine, "Lima\n" + repeated("Confidence: 85\n", 1 << 20));
  EXPECT_EQ(reading.confidence, 0.85);
  EXPECT_EQ(reading.answer, "Lima");
}

}  // namespace
}  // namespace margin::elicit
