#include "upstream/reply_reader.h"

#include <gtest/gtest.h>

#include "margin/random.h"

namespace margin::upstream {
namespace {

using Step = ReplyReader::Step;

constexpr std::size_t kBodyMax = 1000;

struct Read {
  Step step = Step::kNeedMore;
  int status = 0;
  std::string body;
  std::string why;
  bool reusable = false;
};

// Reads `text` in pieces of `size` bytes; then the connection ends, unless it is done before.
Read read(std::string_view text, std::size_t size, bool properly = true) {
  ReplyReader reader(kBodyMax);
  reader.start();
  Read result;
  const auto go_on = [&] {
    while (true) {
      result.step = reader.next();
      if (result.step == Step::kHead) {
        result.status = reader.head().status;
      } else if (result.step == Step::kBody) {
        result.body += reader.piece();
      } else {
        return result.step != Step::kNeedMore;
      }
    }
  };
  bool over = false;
  for (std::size_t at = 0; at < text.size() && !over; at += size) {
    const std::string piece(text.substr(at, size));  // its own memory: a view that outlives it is found
    reader.feed(piece);
    over = go_on();
  }
  if (!over) {
    reader.end(properly);
    go_on();
  }
  result.why = reader.why();
  result.reusable = result.step == Step::kDone && reader.reusable();
  return result;
}

void expect_read(std::string_view text, const Read& expected) {
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const Read result = read(text, size);
    EXPECT_EQ(result.step, expected.step) << text << " in pieces of " << size << ": " << result.why;
    EXPECT_EQ(result.status, expected.status) << text << size;
    EXPECT_EQ(result.body, expected.body) << text << size;
    EXPECT_EQ(result.reusable, expected.reusable) << text << size;
  }
}

TEST(ReplyReader, ReadsEveryFramingHoweverItIsCut) {
  expect_read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", {Step::kDone, 200, "hello", "", true});
  expect_read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhell\r\n1\r\no\r\n0\r\n\r\n",
              {Step::kDone, 200, "hello", "", true});
  expect_read("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nTrailer: 1\r\n\r\n",
              {Step::kDone, 200, "hello", "", true});
  expect_read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {Step::kDone, 200, "", "", true});
  expect_read("HTTP/1.1 200 OK\r\n\r\nuntil the end", {Step::kDone, 200, "until the end", "", false});
  expect_read("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", {Step::kDone, 200, "x", "", false});
  expect_read("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", {Step::kDone, 200, "x", "", false});
  expect_read("HTTP/1.1 204 No Content\r\n\r\n", {Step::kDone, 204, "", "", true});
  expect_read("HTTP/1.1 500 \r\nContent-Length: 0\r\n\r\n", {Step::kDone, 500, "", "", true});
}

TEST(ReplyReader, PassesOverInterimReplies) {
  expect_read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
              {Step::kDone, 200, "x", "", true});
  std::string interim;
  while (interim.size() < (70 << 10)) interim += "HTTP/1.1 102 Processing\r\n\r\n";
  EXPECT_EQ(read(interim, 1000).step, Step::kTooLarge) << "without end they are too much";
}

TEST(ReplyReader, ARepliesEndThatDoesNotComeIsACut) {
  expect_read("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", {Step::kCut, 200, "hello", "", false});
  expect_read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", {Step::kCut, 200, "hello", "", false});
  expect_read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", {Step::kCut, 200, "hello", "", false});
  expect_read("HTTP/1.1 200 OK\r\nContent-", {Step::kCut, 0, "", "", false});
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n\r\nuntil the end", 5, false).step, Step::kCut) << "the end was no proper one";
}

TEST(ReplyReader, MoreThanTheLengthSaysMakesTheConnectionUseless) {
  const Read result = read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", 1000);
  EXPECT_EQ(result.step, Step::kDone);
  EXPECT_EQ(result.body, "hello");
  EXPECT_FALSE(result.reusable);
}

TEST(ReplyReader, RefusesWhatIsNoReply) {
  for (const std::string_view text :
       {"GET / HTTP/1.1\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello!",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello!", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\nhello"}) {
    for (std::size_t size = 1; size <= text.size(); ++size) EXPECT_EQ(read(text, size).step, Step::kWrong) << text << size;
  }
}

TEST(ReplyReader, RefusesWhatIsTooLarge) {
  const std::string body(kBodyMax, 'x');
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", 7).why, "its body has 1001 bytes, allowed are 1000");
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + body, 7).step, Step::kDone);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n\r\n" + body, 7).step, Step::kDone);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n\r\n" + body + "x", 7).step, Step::kTooLarge);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + body + "x\r\n0\r\n\r\n", 7).step, Step::kTooLarge);
  const std::string filler = "A: " + std::string(70 << 10, 'x') + "\r\n";
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n" + filler + "\r\n", 500).step, Step::kTooLarge);
  std::string headers;
  while (headers.size() < (70 << 10)) headers += "A: " + std::string(1000, 'x') + "\r\n";
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n" + headers + "\r\n", 500).step, Step::kTooLarge);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + std::string(70 << 10, 'x'), 500).step, Step::kTooLarge);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + headers, 500).step, Step::kTooLarge);
}

// Replies with a few bytes changed: those that still are replies are the same however they are cut, and nothing breaks.
TEST(ReplyReader, DamagedRepliesAreReadTheSameHoweverTheyAreCut) {
  constexpr std::string_view kReplies[] = {
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\nhell\r\n1\r\no\r\n0\r\nT: 1\r\n\r\n",
      "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nA: b\r\n c\r\n\r\nuntil the end"};
  constexpr char kBytes[] = "\r\n:; 0159aAfF\0\x80-,=\"";
  Random random(11);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(kReplies[random.below(std::size(kReplies))]);
    for (std::uint64_t changes = random.below(4); changes > 0; --changes) {
      const std::size_t at = random.below(text.size());
      const char byte = kBytes[random.below(sizeof kBytes - 1)];
      switch (random.below(3)) {
        case 0: text[at] = byte; break;
        case 1: text.insert(at, 1, byte); break;
        default: text.erase(at, 1); break;
      }
    }
    const Read whole = read(text, text.size());
    const Read cut = read(text, 1 + random.below(text.size()));
    // Why one is none may differ: Beast waits for the end of a head that it has seen a part of, before it looks at it again.
    ASSERT_EQ(cut.step == Step::kDone, whole.step == Step::kDone) << testing::PrintToString(text) << whole.why << " / " << cut.why;
    if (whole.step == Step::kDone) {
      ASSERT_EQ(cut.status, whole.status) << testing::PrintToString(text);
      ASSERT_EQ(cut.body, whole.body) << testing::PrintToString(text);
    }
  }
}

TEST(ReplyReader, KeepsTheHeadersThatAreUsed) {
  ReplyReader reader(kBodyMax);
  reader.start();
  reader.feed(
      "HTTP/1.1 429 Too Many\r\ncontent-type: text/plain\r\nRETRY-AFTER: 3\r\nretry-after-ms: 250\r\nX-Should-Retry: true\r\n"
      "Location: /there\r\nContent-Length: 0\r\n\r\n");
  ASSERT_EQ(reader.next(), Step::kHead);
  EXPECT_EQ(reader.head().status, 429);
  EXPECT_EQ(reader.head().content_type, "text/plain");
  EXPECT_EQ(reader.head().retry_after, "3");
  EXPECT_EQ(reader.head().retry_after_ms, "250");
  EXPECT_EQ(reader.head().should_retry, "true");
  EXPECT_EQ(reader.head().location, "/there");
  EXPECT_EQ(reader.next(), Step::kDone);
}

}  // namespace
}  // namespace margin::upstream
