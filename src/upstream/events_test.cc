#include "upstream/events.h"

#include <gtest/gtest.h>

#include <vector>

namespace margin::upstream {
namespace {

using Events = std::vector<std::string>;

// All events of `text`, fed in two pieces cut at `cut`, or byte by byte.
Events split(std::string_view text, std::size_t cut, bool to_the_end = true) {
  EventSplitter splitter;
  Events events;
  const auto take = [&](std::string_view bytes) {
    splitter.feed(bytes);
    while (const auto event = splitter.next()) events.emplace_back(*event);
  };
  if (cut == std::string_view::npos) {
    for (const char& c : text) take({&c, 1});
  } else {
    take(text.substr(0, cut));
    take(text.substr(cut));
  }
  if (to_the_end) {
    if (const auto event = splitter.last()) events.emplace_back(*event);
  }
  return events;
}

void expect_events(std::string_view text, const Events& expected) {
  for (std::size_t cut = 0; cut <= text.size(); ++cut) EXPECT_EQ(split(text, cut), expected) << text << " cut at " << cut;
  EXPECT_EQ(split(text, std::string_view::npos), expected) << text;
}

// The examples of the standard's section on interpreting an event stream (WHATWG HTML, 9.2.6), but for unfinished last events.
TEST(EventSplitter, ReadsTheStandardsExamples) {
  expect_events("data: YHOO\ndata: +2\ndata: 10\n\n", {"YHOO\n+2\n10"});
  expect_events(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                {"first event", "second event", " third event"});
  expect_events("data\n\ndata\ndata\n\n", {"", "\n"});
  expect_events("data:test\n\ndata: test\n\n", {"test", "test"});
}

TEST(EventSplitter, TakesEveryLineEnding) {
  expect_events("data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\ndata: e\r\n\r\n", {"a", "b", "c", "d\ne"});
}

TEST(EventSplitter, PassesOverWhatIsNoData) {
  expect_events(
      "\xEF\xBB\xBF"
      "data: a\n\nevent: ping\n\nretry: 10\nid: 7\ndatax: no\n data: no\n: data: no\n\n\n\ndata: b\n\n",
      {"a", "b"});
}

TEST(EventSplitter, GivesTheLastEventWithoutItsBlankLineOnlyAtTheEnd) {
  expect_events("data: a\n\ndata: b", {"a", "b"});
  expect_events("data: a\n\ndata: b\n", {"a", "b"});
  EXPECT_EQ(split("data: a\n\ndata: b\n", 0, false), Events{"a"});
}

TEST(LineSplitter, GivesLinesAndWhatIsLeft) {
  LineSplitter lines;
  lines.feed("one\ntw");
  EXPECT_EQ(lines.next(), "one");
  EXPECT_EQ(lines.next(), std::nullopt);
  lines.feed("o\r");
  EXPECT_EQ(lines.next(), "two");
  lines.feed("\nthree");
  EXPECT_EQ(lines.next(), std::nullopt);
  EXPECT_EQ(lines.last(), "three");
  EXPECT_EQ(lines.last(), std::nullopt);
}

}  // namespace
}  // namespace margin::upstream
