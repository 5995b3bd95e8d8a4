// CSV logs through the reader: the form of RFC 4180, and every way to be wrong. That CSV and JSON of one log give one result is the
// business of tests/cli/csv_equals_jsonl.py.
#include "dataset/csv_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "dataset/reader.h"
#include "dataset/temporary_file.h"
#include "margin/random.h"

namespace margin::dataset {
namespace {

constexpr std::string_view kHeader = "task,model,confidence,correct,answer\n";

Result<ObservationLog> read(std::string_view content) {
  const TemporaryFile file(content);
  return read_observations(std::vector{file.path()}, {.format = InputFormat::kCsv});
}

// The message for a file, without the file's name.
std::string complaint_about_file(std::string_view content) {
  const TemporaryFile file(content);
  const auto log = read_observations(std::vector{file.path()}, {.format = InputFormat::kCsv});
  if (log.ok()) return "accepted";
  EXPECT_TRUE(log.error().message.starts_with(file.path() + ":")) << log.error().message;
  return log.error().message.substr(file.path().size() + 1);
}

// The message for a file with a good second line and this third one.
std::string complaint_about(std::string_view record) {
  return complaint_about_file(std::string(kHeader) + "t,a,0.5,1,x\n" + std::string(record) + "\n");
}

std::string answer(const ObservationLog& log, std::size_t row) {
  return log.answer(row) == ObservationLog::kNone ? "(none)" : log.answers()[log.answer(row)];
}

TEST(CsvTest, EveryFieldIsReadFromTheColumnThatTheHeaderNames) {
  const auto log = read(
      "abstained,t,weight,kind,note,segment,channel,answer,correct,confidence,model,phase,task\n"
      "true,12.5,0.75,math,ignored,s,consistency,x,0.5,0.25,a,p,t1\n");
  ASSERT_TRUE(log.ok()) << log.error().message;
  ASSERT_EQ(log->rows(), 1U);
  const ObservationLog::Task& task = log->tasks()[0];
  EXPECT_EQ(task.name, "t1");
  EXPECT_EQ(log->phases()[task.phase], "p");
  EXPECT_EQ(log->segments()[task.segment], "s");
  EXPECT_EQ(task.kind, AnswerKind::kMath);
  EXPECT_EQ(log->models()[0], "a");
  EXPECT_EQ(log->channels()[log->channel(0)], "consistency");
  EXPECT_EQ(log->confidence(0), 0.25);
  EXPECT_EQ(log->correct(0), 0.5);
  EXPECT_EQ(answer(*log, 0), "x");
  EXPECT_EQ(log->weight(0), 0.75);
  EXPECT_EQ(log->t(0), 12.5);
  EXPECT_TRUE(log->abstained(0));
}

TEST(CsvTest, AnEmptyCellIsNotStated) {
  const auto log = read("task,model,confidence,correct,answer,phase,channel,segment,kind,weight,t,abstained\nt,a,,\"\",,,,,,,,\n");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_TRUE(std::isnan(log->confidence(0)));
  EXPECT_TRUE(std::isnan(log->correct(0)));
  EXPECT_EQ(answer(*log, 0), "(none)");
  EXPECT_EQ(log->channels()[0], "verbalized");
  EXPECT_EQ(log->weight(0), 1.0);
  EXPECT_TRUE(std::isnan(log->t(0)));
  EXPECT_FALSE(log->abstained(0));
}

TEST(CsvTest, QuotesHoldCommasQuotesAndLineEndsTogether) {
  const auto log =
      read(std::string(kHeader) + "t,a,0.5,1,\"x,\"\"y\"\"\n\nz\"\r\n\"t\",\"b\",\"0.5\",\"1\",\"\"\"\"\r\nu,a,0.5,1,\"1\r\n2\"");
  ASSERT_TRUE(log.ok()) << log.error().message;
  ASSERT_EQ(log->rows(), 3U);
  EXPECT_EQ(answer(*log, 0), "x,\"y\"\n\nz");
  EXPECT_EQ(answer(*log, 1), "\"");
  EXPECT_EQ(answer(*log, 2), "1\r\n2");
  EXPECT_TRUE(log->place(1).ends_with(":5")) << log->place(1);  // rows are named by the line they begin on
}

TEST(CsvTest, MarksEmptyLinesAndBothLineEndsDoNotMatter) {
  const auto log = read("\xef\xbb\xbf" + std::string("task,model,confidence,correct\r\n\r\nt,a,0.5,1\r\n  \nt,b,0.5,0"));
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log->rows(), 2U);
}

TEST(CsvTest, OutcomesAsPythonAndSpreadsheetsWriteThem) {
  const auto log = read(
      "task,model,confidence,correct\nt,a,1,true\nt,b,1,False\nt,c,1,TRUE\nt,d,1,NaN\nt,e,nan,0.25\nt,f,null,1e-300\n"
      "t,g,0.1000000000000000055511151231257827,4.9e-324\n");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(log->correct(0), 1.0);
  EXPECT_EQ(log->correct(1), 0.0);
  EXPECT_EQ(log->correct(2), 1.0);
  EXPECT_TRUE(std::isnan(log->correct(3)));
  EXPECT_TRUE(std::isnan(log->confidence(4)));
  EXPECT_TRUE(std::isnan(log->confidence(5)));
  EXPECT_EQ(log->correct(5), 1e-300);
  EXPECT_EQ(log->confidence(6), 0.1);
  EXPECT_EQ(log->correct(6), 4.9e-324);
}

TEST(CsvTest, TheNameOfAFileTellsItsFormat) {
  for (const std::string name : {"margin_test.csv", "margin_test.CSV", "margin_test.csv.gz"}) {
    const std::string text = std::string(kHeader) + "t,a,0.5,1,x\n";
    std::ofstream(name, std::ios::binary) << (name.ends_with("gz") ? gzipped(text) : text);
    const auto log = read_observations(std::vector{name});
    EXPECT_TRUE(log.ok()) << log.error().message;
    EXPECT_FALSE(read_observations(std::vector{name}, {.format = InputFormat::kJsonLines}).ok());
    unlink(name.c_str());
  }
}

// One test per way to be wrong: place, field, value and expectation are all in the message.

TEST(CsvErrorTest, HeaderWithoutARequiredColumn) {
  EXPECT_EQ(complaint_about_file("task,model,correct\nt,a,1\n"),
            "1: confidence: missing, expected a column of this name in the header (columns are separated by commas)");
  EXPECT_EQ(complaint_about_file("task;model;confidence;correct\nt;a;1;1\n"),
            "1: task: missing, expected a column of this name in the header (columns are separated by commas)");
}

TEST(CsvErrorTest, HeaderWithAColumnTwice) {
  EXPECT_EQ(complaint_about_file("task,model,confidence,correct,confidence\nt,a,1,1,1\n"),
            "1: confidence: got two columns of this name, expected one");
  EXPECT_EQ(complaint_about_file("task,note,model,confidence,note,correct\nt,,a,1,,1\n"), "accepted");
}

TEST(CsvErrorTest, TooManyOrTooFewCells) {
  EXPECT_EQ(complaint_about("u,a,0.5,1"), "3: got 4 cells, expected 5, as many as the header has");
  EXPECT_EQ(complaint_about("u,a,0.5,1,x,"), "3: got 6 cells, expected 5, as many as the header has");
  EXPECT_EQ(complaint_about("u"), "3: got 1 cell, expected 5, as many as the header has");
}

TEST(CsvErrorTest, QuotesOutOfPlace) {
  EXPECT_EQ(complaint_about("u,a,0.5,1,5\" disk"), "3: got 5\" disk, expected quotes only around a whole cell, and doubled inside it");
  EXPECT_EQ(complaint_about("u,a,0.5,1,\"x\"y\"\""), "3: got y\"\", expected quotes only around a whole cell, and doubled inside it");
  EXPECT_EQ(complaint_about("u,a,0.5,1,\"x\nv,a,0.5,1,y"), "3: got \"x\\x0av,a,0.5,1,y\\x0a, expected a closing quote");
}

TEST(CsvErrorTest, WrongType) {
  EXPECT_EQ(complaint_about("u,a,high,1,x"), "3: confidence: got high, expected a number in [0, 1] or null");
  EXPECT_EQ(complaint_about("u,a, 0.5,1,x"), "3: confidence: got  0.5, expected a number in [0, 1] or null");
  EXPECT_EQ(complaint_about("u,a,1,yes,x"), "3: correct: got yes, expected a number in [0, 1], true, false or null");
  for (const char* number : {"inf", "-inf", "1e400", "0x1", "1 2", "0,5", "+1"}) {
    EXPECT_NE(complaint_about(std::string("u,a,\"") + number + "\",1,x"), "accepted") << number;
  }
  EXPECT_EQ(complaint_about_file("task,model,confidence,correct,abstained\nt,a,1,1,1\n"), "2: abstained: got 1, expected true or false");
  EXPECT_EQ(complaint_about_file("task,model,confidence,correct,kind\nt,a,1,1,poem\n"),
            "2: kind: got poem, expected exact, code, choice, math or text");
  EXPECT_EQ(complaint_about_file("task,model,confidence,correct,t\nt,a,1,1,May\n"),
            "2: t: got May, expected seconds since 1970 or a date such as \"2024-05-17T08:30:00Z\"");
  EXPECT_EQ(complaint_about_file("task,model,confidence,correct,weight\nt,a,1,1,NaN\n"), "2: weight: got NaN, expected a number in (0, 1]");
}

TEST(CsvErrorTest, ValuesAndNamesAreHeldToTheSameRangesAsInJson) {
  EXPECT_EQ(complaint_about("u,a,87,1,x"), "3: confidence: got 87, expected a number in [0, 1] or null (for percentages: --scale 100)");
  EXPECT_EQ(complaint_about("u,a,1,2,x"), "3: correct: got 2, expected a number in [0, 1], true, false or null");
  EXPECT_EQ(complaint_about("u,@pool,1,1,x"),
            "3: model: got \"@pool\", expected a name that does not begin with @ (such names are reserved)");
  EXPECT_EQ(complaint_about(",a,1,1,x"), "3: task: got \"\", expected a name");
  EXPECT_EQ(complaint_about("u,,1,1,x"), "3: model: got \"\", expected a name");
}

TEST(CsvErrorTest, DuplicateResponse) {
  const TemporaryFile file(std::string(kHeader) + "t,a,0.5,1,\"x\ny\"\nt,a,0.5,1,z\n");
  const auto log = read_observations(std::vector{file.path()}, {.format = InputFormat::kCsv});
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().message,
            file.path() +
                ":4: model: got a second response of \"a\" to task \"t\" in channel \"verbalized\", expected one (the first is at " +
                file.path() + ":2)");
}

TEST(CsvErrorTest, InvalidUtf8) {
  EXPECT_EQ(complaint_about("u,a,0.5,1,\xff"), "3: got bytes that are not UTF-8, expected CSV in UTF-8");
  EXPECT_EQ(complaint_about("u,a,0.5,1,\"\xff\""), "3: got bytes that are not UTF-8, expected CSV in UTF-8");
}

TEST(CsvErrorTest, AQuotedCellBeyondTheLimit) {
  const std::string row = "u,a,0.5,1,";
  const std::string half(kLineBytesMax / 2, 'x');
  const std::string longest = "\"" + half + "\n" + std::string(kLineBytesMax - half.size() - row.size() - 3, 'y') + "\"";
  EXPECT_EQ(complaint_about(row + longest), "accepted");
  EXPECT_EQ(complaint_about(row + "\"y" + longest.substr(1)), "3: a quoted cell is longer than 16 MiB");
  EXPECT_EQ(complaint_about(row + half + half), "3: the line is longer than 16 MiB");
}

TEST(CsvErrorTest, TruncatedGzip) {
  std::string text(kHeader);
  Random random(1);
  for (int i = 0; i < 2000; ++i) text += std::to_string(random.bits()) + ",a,0.5,1,x\n";
  const std::string whole = gzipped(text);
  const std::string message = complaint_about_file(whole.substr(0, whole.size() / 2));
  EXPECT_NE(message.find("the gzip data end too early"), std::string::npos) << message;
}

TEST(CsvErrorTest, HeaderAloneIsNoLog) {
  const auto log = read(kHeader);
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().message.find("no rows"), std::string::npos);
}

// Whatever is done to a good file, the reader either accepts only legal values or refuses with a place.
TEST(CsvErrorTest, DamagedFilesNeverBreakTheReader) {
  const std::string good =
      "task,model,confidence,correct,answer,kind,weight,t\nt1,a,0.25,0.5,\"x\xc3\xa9\"\"\n,\",math,0.75,2024-05-17\nt1,b,1,true,,,,\n";
  Random random(20240517);
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 600; ++round) {
    std::string text = good;
    const std::size_t changes = 1 + random.below(3);
    for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
      const std::size_t at = 51 + random.below(text.size() > 51 ? text.size() - 51 : 1);
      if (at >= text.size()) continue;
      switch (random.below(4)) {
        case 0: text.resize(at); break;
        case 1: text[at] = static_cast<char>(random.below(256)); break;
        case 2: text.erase(at, 1 + random.below(8)); break;
        default: text.insert(at, 1, "\",\n\r0N-e."[random.below(9)]); break;
      }
    }
    const auto log = read(text);
    if (!log.ok()) {
      EXPECT_FALSE(log.error().message.empty());
      ++refused;
      continue;
    }
    ++accepted;
    for (std::size_t row = 0; row < log->rows(); ++row) {
      EXPECT_TRUE(std::isnan(log->confidence(row)) || (log->confidence(row) >= 0.0 && log->confidence(row) <= 1.0)) << text;
      EXPECT_TRUE(log->weight(row) > 0.0 && log->weight(row) <= 1.0) << text;
    }
  }
  EXPECT_GT(accepted, 20);
  EXPECT_GT(refused, 60);
}

}  // namespace
}  // namespace margin::dataset
