#include "dataset/reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dataset/json_row.h"
#include "dataset/line_source.h"
#include "dataset/temporary_file.h"
#include "margin/random.h"

namespace margin::dataset {
namespace {

constexpr const char* kGood = R"({"task":"t","model":"a","confidence":0.5,"correct":1})";

Result<ObservationLog> read(std::string_view content, const ReadOptions& options = {}) {
  const TemporaryFile file(content);
  const std::vector paths = {file.path()};
  return read_observations(paths, options);
}

// The message for a file whose second line is `line`, without the file's name.
std::string complaint_about(std::string_view line) {
  const TemporaryFile file(std::string(kGood) + "\n" + std::string(line) + "\n");
  const std::vector paths = {file.path()};
  const auto log = read_observations(paths);
  if (log.ok()) return "accepted";
  EXPECT_TRUE(log.error().message.starts_with(file.path() + ":")) << log.error().message;
  return log.error().message.substr(file.path().size() + 1);
}

TEST(ReaderTest, EveryFieldOfARowIsRead) {
  const auto log = read(R"({"task":"t1","phase":"p","model":"a","confidence":0.25,"correct":0.5,"answer":"x","channel":"consistency",)"
                        R"("segment":"s","kind":"math","weight":0.75,"t":12.5,"abstained":true})");
  ASSERT_TRUE(log.ok()) << log.error().message;
  ASSERT_EQ(log->rows(), 1U);
  const ObservationLog::Task& task = log->tasks()[log->task(0)];
  EXPECT_EQ(task.name, "t1");
  EXPECT_EQ(log->phases()[task.phase], "p");
  EXPECT_EQ(log->segments()[task.segment], "s");
  EXPECT_EQ(task.kind, AnswerKind::kMath);
  EXPECT_EQ(log->models()[log->model(0)], "a");
  EXPECT_EQ(log->channels()[log->channel(0)], "consistency");
  EXPECT_EQ(log->confidence(0), 0.25);
  EXPECT_EQ(log->correct(0), 0.5);
  EXPECT_EQ(log->answers()[log->answer(0)], "x");
  EXPECT_EQ(log->weight(0), 0.75);
  EXPECT_EQ(log->t(0), 12.5);
  EXPECT_TRUE(log->abstained(0));
}

TEST(ReaderTest, KeysMayStandInAnyOrderAndBeEscaped) {
  const auto log = read(R"({"task":"t","model":"a","confidence":0.1,"correct":1}
{"correct":0,"confidence":0.2,"model":"b","task":"t"}
{"t\u0061sk":"t","mod\u0065l":"c","confidence":0.3,"correct":1}
{"tasks":7,"mode":8,"confidence":0.4,"correct":0,"task":"t","model":"d"}
{"task":"t","model":"e","confidence":0.5,"correct":1})");
  ASSERT_TRUE(log.ok()) << log.error().message;
  ASSERT_EQ(log->rows(), 5U);
  EXPECT_EQ(log->tasks().size(), 1U);
  for (std::uint32_t row = 0; row < 5; ++row) {
    EXPECT_EQ(log->models()[log->model(row)], std::string(1, static_cast<char>('a' + row)));
    EXPECT_EQ(log->confidence(row), std::vector({0.1, 0.2, 0.3, 0.4, 0.5})[row]);
    EXPECT_EQ(log->correct(row), row % 2 == 0 ? 1.0 : 0.0);
  }
}

TEST(ReaderTest, WhatIsNotStatedHasItsDefault) {
  const auto log = read(kGood);
  ASSERT_TRUE(log.ok());
  const ObservationLog::Task& task = log->tasks()[0];
  EXPECT_EQ(log->phases()[task.phase], "");
  EXPECT_EQ(task.segment, 0U);
  EXPECT_FALSE(task.kind.has_value());
  EXPECT_EQ(log->channels()[0], "verbalized");
  EXPECT_EQ(log->answer(0), ObservationLog::kNone);
  EXPECT_EQ(log->weight(0), 1.0);
  EXPECT_TRUE(std::isnan(log->t(0)));
  EXPECT_FALSE(log->abstained(0));
}

TEST(ReaderTest, NumbersAreReadToTheLastBit) {
  const auto log =
      read(R"({"task":"t","model":"a","confidence":0.1000000000000000055511151231257827,"correct":1e-300,"note":"more than 19 digits"}
{"task":"t","model":"b","confidence":-0.0,"correct":4.9e-324})");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log->confidence(0), 0.1);
  EXPECT_EQ(log->correct(0), 1e-300);
  EXPECT_FALSE(std::signbit(log->confidence(1)));
  EXPECT_EQ(log->correct(1), 4.9e-324);
}

TEST(ReaderTest, NullAndBareNanAreMissing) {
  const auto log = read(R"({"task":"t","model":"a","confidence":NaN,"correct": NaN }
{"task":"t","model":"b","confidence":null,"correct":null})");
  ASSERT_TRUE(log.ok()) << log.error().message;
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_TRUE(std::isnan(log->confidence(row)));
    EXPECT_TRUE(std::isnan(log->correct(row)));
  }
}

TEST(ReaderTest, TrueAndFalseAreOutcomes) {
  const auto log = read(R"({"task":"t","model":"a","confidence":1,"correct":true}
{"task":"t","model":"b","confidence":1,"correct":false})");
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->correct(0), 1.0);
  EXPECT_EQ(log->correct(1), 0.0);
}

TEST(ReaderTest, RowsOfATaskBelongTogetherWhereverTheyStand) {
  const auto log = read(R"({"task":"x","phase":"1","model":"a","confidence":0.5,"correct":1}
{"task":"y","phase":"1","model":"a","confidence":0.5,"correct":1}
{"task":"x","phase":"2","model":"a","confidence":0.5,"correct":1}
{"task":"x","phase":"1","model":"b","confidence":0.5,"correct":1})");
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->tasks().size(), 3U);
  EXPECT_EQ(log->task(0), log->task(3));
  EXPECT_NE(log->task(0), log->task(2));
}

TEST(ReaderTest, LineEndsMarksEmptyLinesAndUnknownKeysDoNotMatter) {
  const auto log = read("\xef\xbb\xbf" + std::string(kGood) +
                        "\r\n\r\n  \n"
                        R"({"note":{"deep":[1,"two",null,{"x":true}]},"task":"u","model":"a","confidence":0.5,"correct":1})");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log->rows(), 2U);
}

TEST(ReaderTest, ScaleDividesConfidences) {
  const auto log = read(R"({"task":"t","model":"a","confidence":87,"correct":1})", {.scale = 100.0});
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->confidence(0), 0.87);
}

TEST(ReaderTest, AbstentionNeedsNoConfidence) {
  const auto log = read(R"({"task":"t","model":"a","abstained":true})");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_TRUE(log->abstained(0));
}

TEST(ReaderTest, GzipReadsLikePlain) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += R"({"task":"t)" + std::to_string(i) + R"(","model":"a","confidence":0.5,"correct":1})" + "\n";
  const auto log = read(gzipped(text));
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log->rows(), 20000U);
  EXPECT_EQ(log->tasks().back().name, "t19999");
}

TEST(ReaderTest, FilesAreReadAsOne) {
  const TemporaryFile first(kGood);
  const TemporaryFile second(R"({"task":"t","model":"b","confidence":0.5,"correct":1})");
  const std::vector paths = {first.path(), second.path()};
  const auto log = read_observations(paths);
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->tasks().size(), 1U);
  EXPECT_EQ(log->place(1), second.path() + ":1");
}

// One test per way to be wrong: place, field, value and expectation are all in the message.

TEST(ReaderErrorTest, MissingField) {
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","correct":1})"),
            "2: confidence: missing, expected it in every row (null where it is not known)");
  EXPECT_EQ(complaint_about(R"({"model":"a","confidence":1,"correct":1})"),
            "2: task: missing, expected it in every row (null where it is not known)");
}

TEST(ReaderErrorTest, WrongType) {
  EXPECT_EQ(complaint_about(R"({"task":7,"model":"a","confidence":1,"correct":1})"), "2: task: got 7, expected a string");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":null,"confidence":1,"correct":1})"), "2: model: got null, expected a string");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":"high","correct":1})"),
            "2: confidence: got \"high\", expected a number in [0, 1] or null");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":1,"correct":[1]})"),
            "2: correct: got [, expected a number in [0, 1], true, false or null");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":1,"correct":1,"answer":42})"),
            "2: answer: got 42, expected a string or null");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":1,"correct":1,"abstained":1})"),
            "2: abstained: got 1, expected true or false");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":1,"correct":1,"kind":"poem"})"),
            "2: kind: got \"poem\", expected exact, code, choice, math or text");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":1,"correct":1,"t":"May"})"),
            "2: t: got \"May\", expected seconds since 1970 or a date such as \"2024-05-17T08:30:00Z\"");
}

TEST(ReaderErrorTest, ConfidenceOutsideItsRange) {
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":87,"correct":1})"),
            "2: confidence: got 87, expected a number in [0, 1] or null (for percentages: --scale 100)");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":-0.5,"correct":1})"),
            "2: confidence: got -0.5, expected a number in [0, 1] or null");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":101,"correct":1})"),
            "2: confidence: got 101, expected a number in [0, 1] or null");
}

TEST(ReaderErrorTest, OutcomeOutsideItsRange) {
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":1,"correct":2})"),
            "2: correct: got 2, expected a number in [0, 1], true, false or null");
}

TEST(ReaderErrorTest, WeightOutsideItsRange) {
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":1,"correct":1,"weight":0})"),
            "2: weight: got 0, expected a number in (0, 1]");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":1,"correct":1,"weight":1.5})"),
            "2: weight: got 1.5, expected a number in (0, 1]");
}

TEST(ReaderErrorTest, ReservedOrEmptyName) {
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"@pool","confidence":1,"correct":1})"),
            "2: model: got \"@pool\", expected a name that does not begin with @ (such names are reserved)");
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"","confidence":1,"correct":1})"), "2: model: got \"\", expected a name");
  EXPECT_EQ(complaint_about(R"({"task":"","model":"a","confidence":1,"correct":1})"), "2: task: got \"\", expected a name");
}

TEST(ReaderErrorTest, DuplicateResponse) {
  const TemporaryFile file(std::string(kGood) + "\n" + R"({"task":"u","model":"a","confidence":1,"correct":1})" + "\n" + kGood + "\n");
  const std::vector paths = {file.path()};
  const auto log = read_observations(paths);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().message,
            file.path() +
                ":3: model: got a second response of \"a\" to task \"t\" in channel \"verbalized\", expected one (the first is at " +
                file.path() + ":1)");
}

TEST(ReaderErrorTest, SameModelInAnotherChannelOrPhaseIsNoDuplicate) {
  EXPECT_EQ(complaint_about(R"({"task":"t","model":"a","confidence":1,"correct":1,"channel":"consistency"})"), "accepted");
  EXPECT_EQ(complaint_about(R"({"task":"t","model":"a","confidence":1,"correct":1,"phase":"2"})"), "accepted");
}

TEST(ReaderErrorTest, TaskThatContradictsItself) {
  const auto log = read(R"({"task":"t","model":"a","confidence":1,"correct":1,"segment":"s"}
{"task":"t","model":"b","confidence":1,"correct":1}
{"task":"t","model":"c","confidence":1,"correct":1,"segment":"other"})");
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().message.find(":3: segment: got \"other\", expected \"s\", the segment of this task's other rows"),
            std::string::npos);
}

TEST(ReaderErrorTest, FieldStatedTwice) {
  EXPECT_EQ(complaint_about(R"({"task":"u","model":"a","confidence":0.5,"correct":1,"confidence":0.6})"),
            "2: confidence: got 0.6, expected to see it once in a row");
}

TEST(ReaderErrorTest, InvalidUtf8) {
  EXPECT_EQ(complaint_about("{\"task\":\"\xff\",\"model\":\"a\",\"confidence\":1,\"correct\":1}"),
            "2: got bytes that are not UTF-8, expected a JSON object in UTF-8");
}

TEST(ReaderErrorTest, MalformedJson) {
  for (const char* line :
       {"{", "[]", "7", "hello", R"({"task":"u" "model":"a"})", R"({"task":"u","model":"a","confidence":1,"correct":1} x)",
        R"({"task":"u","model":"a","confidence":1,"correct":1}})", R"({"task":"u","model":"a","confidence":1,"correct":1,"note":tru})",
        R"({"task":"u","model":"a","confidence":1,"correct":1,"note":[1,2})",
        R"({"task":"u","model":"a","confidence":1,"correct":1,"note":nul})",
        R"({"task":"u","model":"a","confidence":1,"correct":1,"note":01})", R"({"task":"u","model":"a","confidence":1,"correct":1)"}) {
    const std::string message = complaint_about(line);
    EXPECT_TRUE(message.starts_with("2: got ")) << line << " -> " << message;
    EXPECT_NE(message.find("expected one JSON object"), std::string::npos) << message;
  }
  for (const char* number : {"01", "1.", ".5", "1e400", "nan", "Infinity", "0x1", "1 2"}) {
    const std::string line = R"({"task":"u","model":"a","confidence":)" + std::string(number) + R"(,"correct":1})";
    EXPECT_NE(complaint_about(line), "accepted") << line;
  }
}

TEST(ReaderErrorTest, HostileValuesAreShownWithoutTheirControlCodes) {
  const std::string message = complaint_about("{\"task\":\"u\",\"model\":\"@\\u001b[31m\",\"confidence\":1,\"correct\":1}");
  EXPECT_EQ(message, "2: model: got \"@\\x1b[31m\", expected a name that does not begin with @ (such names are reserved)");
}

TEST(ReaderErrorTest, LineBeyondTheLimit) {
  const std::string head = R"({"task":"u","model":"a","confidence":1,"correct":1,"answer":")";
  const std::string tail = "\"}";
  const std::string longest = head + std::string(kLineBytesMax - head.size() - tail.size(), 'x') + tail;
  EXPECT_EQ(complaint_about(longest), "accepted");
  EXPECT_EQ(complaint_about(longest + " "), "2: the line is longer than 16 MiB");
}

TEST(ReaderErrorTest, TruncatedOrDamagedGzip) {
  std::string text;
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    text += R"({"task":")" + std::to_string(random.bits()) + R"(","model":"a","confidence":0.5,"correct":1})" + "\n";
  }
  const std::string whole = gzipped(text);
  const auto truncated = read(whole.substr(0, whole.size() / 2));
  ASSERT_FALSE(truncated.ok());
  EXPECT_NE(truncated.error().message.find("the gzip data end too early"), std::string::npos) << truncated.error().message;
  std::string damaged = whole;
  for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 50; ++i) damaged[i] = static_cast<char>(~damaged[i]);
  EXPECT_FALSE(read(damaged).ok());
}

TEST(ReaderErrorTest, FileThatIsNotThere) {
  const std::vector<std::string> paths = {"no/such/file.jsonl"};
  const auto log = read_observations(paths);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().message, "no/such/file.jsonl: cannot be opened: No such file or directory");
}

TEST(ReaderErrorTest, FileWithoutRows) {
  const auto log = read("\n\n");
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().message.find("no rows"), std::string::npos);
}

// Whatever is done to a good file, the reader either accepts only legal values or refuses with a place.
TEST(ReaderErrorTest, DamagedLinesNeverBreakTheReader) {
  const std::string good =
      R"({"task":"t1","phase":"p","model":"a","confidence":0.25,"correct":0.5,"answer":"x\u00e9\"","segment":"s","kind":"math",)"
      R"("weight":0.75,"t":"2024-05-17","note":[{"x":null},1.5e3]})";
  Random random(20240517);
  JsonRowParser parser;
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string line = good;
    const int changes = 1 + static_cast<int>(random.below(3));
    for (int i = 0; i < changes && !line.empty(); ++i) {
      const std::size_t at = random.below(line.size());
      switch (random.below(4)) {
        case 0: line.resize(at); break;
        case 1: line[at] = static_cast<char>(random.below(256)); break;
        case 2: line.erase(at, 1 + random.below(8)); break;
        default: line.insert(at, 1, "{}[],:\"\\0N-e."[random.below(13)]); break;
      }
    }
    const std::string padded = line + std::string(kLinePadding, '\n');
    Row row;
    ObservationLog log;
    Status status = parser.parse(std::string_view(padded).substr(0, line.size()), row);
    if (status.ok()) status = log.append(row, 1);
    if (!status.ok()) {
      EXPECT_FALSE(status.error().message.empty());
      ++refused;
      continue;
    }
    ++accepted;
    EXPECT_TRUE(std::isnan(log.confidence(0)) || (log.confidence(0) >= 0.0 && log.confidence(0) <= 1.0)) << line;
    EXPECT_TRUE(log.weight(0) > 0.0 && log.weight(0) <= 1.0) << line;
    EXPECT_FALSE(log.models()[log.model(0)].empty()) << line;
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace margin::dataset
