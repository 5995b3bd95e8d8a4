// Every reply of corpus/ is read as its author expects; README.md here has the notation.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "elicit/elicit.h"

namespace margin::elicit {
namespace {

struct Case {
  std::string name;
  std::string task;
  std::string mode;
  bool cut_off = false;
  std::string marked;  // the reply with its marks
  std::string expected;
};

// Where `text` has `open`...`close`: what is between them.
std::optional<std::string> between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t from = text.find(open);
  const std::size_t to = text.find(close);
  if (from == std::string::npos || to == std::string::npos) return std::nullopt;
  return text.substr(from + open.size(), to - from - open.size());
}

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = text.find(part); !part.empty() && at != std::string::npos; at = text.find(part)) text.erase(at, part.size());
  return text;
}

std::string without_marks(std::string text) {
  for (const char* mark : {"⟦", "⟧", "⟪", "⟫"}) text = without(std::move(text), mark);
  return text;
}

std::vector<Case> read_cases(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Case> cases;
  bool expecting = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("== ")) {
      std::istringstream head(line.substr(3, line.find(": ") - 3));
      Case& next = cases.emplace_back();
      std::string cut;
      head >> next.task >> next.mode >> cut;
      next.cut_off = cut == "cut";
      next.name = line.substr(line.find(": ") + 2);
      expecting = false;
    } else if (line == ">>>") {
      expecting = true;
      cases.back().marked.pop_back();  // the line break before
    } else {
      (expecting ? cases.back().expected : cases.back().marked) += line + '\n';
    }
  }
  return cases;
}

// The value of "key: ..." with the lines that follow it up to the next key.
std::optional<std::string> expectation(const std::string& expected, const std::string& key) {
  std::istringstream in(expected);
  std::optional<std::string> value;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const bool is_key = line == "refused" || line == "malformed" || line.starts_with("answer:") || line.starts_with("shown:") ||
                        line.starts_with("confidence:");
    if (is_key) inside = line.starts_with(key + ':');
    if (!inside) continue;
    if (is_key) {
      value = line.size() > key.size() + 2 ? line.substr(key.size() + 2) : "";
    } else {
      *value += '\n' + line;
    }
  }
  if (value && !value->empty()) value->erase(value->find_last_not_of('\n') + 1);
  return value;
}

bool has_line(const std::string& text, const std::string& line) { return ('\n' + text).find('\n' + line + '\n') != std::string::npos; }

std::string confidence_of(const Reading& reading) {
  if (!reading.confidence) return std::string(name_of(reading.missing));
  std::ostringstream out;
  out << *reading.confidence;
  return out.str();
}

void check(const Case& c) {
  const Result<Task> task = find_task(c.task);
  const Result<Mode> mode = find_mode(c.mode);
  ASSERT_TRUE(task && mode) << "bad first line";
  const std::string reply = without_marks(c.marked);
  const Reading reading = read_reply(*task, *mode, reply, c.cut_off);

  const auto hidden = between(c.marked, "⟦", "⟧");
  const std::string visible = hidden ? without_marks(without(c.marked, "⟦" + *hidden + "⟧")) : reply;
  EXPECT_EQ(reading.shown, expectation(c.expected, "shown").value_or(visible));

  auto answer = expectation(c.expected, "answer");
  if (!answer) answer = between(c.marked, "⟪", "⟫");
  ASSERT_TRUE(answer) << "no answer is expected; an empty one is \"answer:\"";
  EXPECT_EQ(reading.answer, without_marks(*answer));

  ASSERT_TRUE(expectation(c.expected, "confidence"));
  EXPECT_EQ(confidence_of(reading), *expectation(c.expected, "confidence"));
  EXPECT_EQ(reading.confidence.has_value(), reading.missing == Missing::kNone);
  EXPECT_EQ(reading.refused, has_line(c.expected, "refused"));
  EXPECT_EQ(reading.malformed, has_line(c.expected, "malformed"));
}

TEST(ElicitCorpus, EveryReplyIsReadAsExpected) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MARGIN_CORPUS)) {
    for (const Case& c : read_cases(entry.path())) {
      SCOPED_TRACE(entry.path().filename().string() + ": " + c.name);
      check(c);
      ++count;
    }
  }
  EXPECT_GE(count, 190U);
}

}  // namespace
}  // namespace margin::elicit
