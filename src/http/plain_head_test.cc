// Heads that are read the quick way: what it takes, Beast reads the same.
#include "http/plain_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <cctype>
#include <string>
#include <utility>

#include "margin/random.h"

namespace margin::http {
namespace {

namespace beast = boost::beast;
using Fields = std::vector<std::pair<std::string, std::string>>;

Fields sorted(Fields fields) {
  std::sort(fields.begin(), fields.end());
  return fields;
}

// Asks Beast whether a head is what it was taken for.
void expect_as_beast_reads(const std::string& head, const PlainHead& plain, const std::vector<Header>& headers) {
  beast::http::request_parser<beast::http::empty_body> parser;
  parser.header_limit(1 << 20);
  parser.body_limit(boost::none);
  beast::error_code error;
  EXPECT_EQ(parser.put(boost::asio::buffer(head), error), head.size()) << head;
  ASSERT_FALSE(error) << head << error.message();
  ASSERT_TRUE(parser.is_header_done()) << head;
  const auto& message = parser.get();
  EXPECT_EQ(std::string(message.method_string()), plain.method) << head;
  EXPECT_EQ(std::string(message.target()), plain.target) << head;
  EXPECT_EQ(message.version(), 11U) << head;
  EXPECT_EQ(parser.content_length().value_or(0), plain.body_bytes) << head;
  EXPECT_EQ(message.count(beast::http::field::host), 1U) << head;
  EXPECT_TRUE(parser.keep_alive() && !parser.chunked() && !parser.upgrade()) << head;
  EXPECT_EQ(message.count(beast::http::field::expect), 0U) << head;
  Fields read, taken;
  for (const auto& field : message) read.emplace_back(field.name_string(), field.value());
  for (const Header& header : headers) taken.emplace_back(header.name, header.value);
  EXPECT_EQ(sorted(read), sorted(taken)) << head;
}

TEST(PlainHead, TakesWhatMostClientsSend) {
  std::vector<Header> headers;
  const std::string head =
      "POST /v1/decide?a=b HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nconnection: keep-alive\r\nX-Empty:\r\nUser-Agent:  a (b; c)  \r\n"
      "content-length: 120\r\n\r\n";
  const auto plain = read_plain_head(head, headers);
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->method, "POST");
  EXPECT_EQ(plain->target, "/v1/decide?a=b");
  EXPECT_EQ(plain->body_bytes, 120U);
  ASSERT_EQ(headers.size(), 5U);
  EXPECT_EQ(headers[2].value, "");
  EXPECT_EQ(headers[3].name, "User-Agent");
  EXPECT_EQ(headers[3].value, "a (b; c)");
  expect_as_beast_reads(head, *plain, headers);
}

// Heads are read so many characters at a time: wherever one stands in a name, a value or a target, near the end and far from it.
TEST(PlainHead, TakesEveryCharacterWhereverItMayStand) {
  std::vector<Header> headers;
  for (std::size_t length = 1; length <= 35; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      for (int c = 0; c < 256; ++c) {
        std::string text(length, 'x');
        text[place] = static_cast<char>(c);
        const bool visible = c > ' ' && c < 0x7f;
        const bool of_names = visible && (std::isalnum(c) != 0 || c == '-' || c == '_');
        const auto taken = [&](const std::string& head) { return read_plain_head(head + "\r\n\r\n", headers).has_value(); };
        ASSERT_EQ(taken("GET / HTTP/1.1\r\nHost: h\r\n" + text + ":"), of_names || (c == ':' && place > 0)) << text;
        ASSERT_EQ(taken("GET / HTTP/1.1\r\nHost: h\r\na:" + text), visible || c == ' ') << text;
        ASSERT_EQ(taken("GET /" + text + " HTTP/1.1\r\nHost: h"), visible) << text;
        ASSERT_EQ(taken(text + " / HTTP/1.1\r\nHost: h"), of_names) << text;
      }
    }
  }
}

TEST(PlainHead, LeavesWhatIsRareOrWrong) {
  std::vector<Header> headers;
  const auto taken = [&](const std::string& start, const std::string& lines) {
    return read_plain_head(start + "\r\n" + lines + "\r\n", headers).has_value();
  };
  const std::string get = "GET / HTTP/1.1";
  const std::string host = "Host: h\r\n";
  EXPECT_TRUE(taken(get, host));
  for (const std::string start : {"GET / HTTP/1.0", "GET / HTTP/1.1 ", "GET  / HTTP/1.1", "GET * HTTP/1.1", "GET http://h/ HTTP/1.1",
                                  " GET / HTTP/1.1", "GET /", "GET /\x80 HTTP/1.1", "GET /\t HTTP/1.1", "G(T / HTTP/1.1", ""}) {
    EXPECT_FALSE(taken(start, host)) << start;
  }
  for (const std::string line : {"Host: i",
                                 "Expect: 100-continue",
                                 "Upgrade: h2c",
                                 "Connection: close",
                                 "connection: Keep-Alive, x",
                                 "Proxy-Connection: close",
                                 "Transfer-Encoding: chunked",
                                 "Content-Length: ",
                                 "Content-Length: +1",
                                 "Content-Length: 1,1",
                                 "Content-Length: 01",
                                 "Content-Length: 1\r\nContent-Length: 1",
                                 "Content-Length: 1234567890123456",
                                 "X : y",
                                 "X",
                                 ": y",
                                 " X: y",
                                 "X: a\tb",
                                 "X: \x80",
                                 "X: a\rb",
                                 "X(: y"}) {
    EXPECT_FALSE(taken(get, host + line + "\r\n")) << line;
    EXPECT_FALSE(taken(get, line + "\r\n" + host)) << line;
  }
  EXPECT_FALSE(taken(get, ""));
  EXPECT_FALSE(read_plain_head("GET / HTTP/1.1\r\nHost: h\r\n", headers).has_value());
}

TEST(PlainHead, WhatItTakesBeastReadsTheSame) {
  static constexpr std::array<std::string_view, 24> kPieces{"Host: h\r\n",
                                                            "Content-Length: 7\r\n",
                                                            "Connection: keep-alive\r\n",
                                                            "Connection: close\r\n",
                                                            "Accept: */*\r\n",
                                                            "X-A: b c\r\n",
                                                            "\r\n",
                                                            ":",
                                                            " ",
                                                            "\t",
                                                            "\r",
                                                            "\n",
                                                            "a",
                                                            "0",
                                                            "-",
                                                            "_",
                                                            "\"",
                                                            "\x80",
                                                            "/",
                                                            "?",
                                                            "#",
                                                            "HTTP/1.1",
                                                            "chunked",
                                                            "Transfer-Encoding: "};
  Random random(5);
  std::vector<Header> headers;
  int taken = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string head =
        "POST /v1/decide?x=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Type: application/json\r\nContent-Length: 730\r\n\r\n";
    for (std::uint64_t left = random.below(4); left > 0; --left) {
      const std::string_view piece = kPieces[random.below(kPieces.size())];
      head.replace(random.below(head.size() - 3), random.below(3), piece);
    }
    head = head.substr(0, head.find("\r\n\r\n")) + "\r\n\r\n";
    const auto plain = read_plain_head(head, headers);
    if (!plain) continue;
    ++taken;
    expect_as_beast_reads(head, *plain, headers);
  }
  EXPECT_GT(taken, 5'000);
}

}  // namespace
}  // namespace margin::http
