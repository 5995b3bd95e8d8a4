// The reader as a function of bytes: what it finds must not depend on how they are cut into packets.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "http/request_reader_testing.h"

namespace margin::http {
namespace {

TEST(RequestReader, FindsTheSameRequestsHoweverTheBytesAreCut) {
  const Limits limits{.header_bytes_max = 20'000, .body_bytes_max = 50'000};
  std::string chunked =
      "POST /chunked?q=1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nX-Long: " + std::string(9000, 'l') + "\r\n\r\n";
  for (int i = 1; i < 40; ++i) {
    char size[8];
    std::snprintf(size, sizeof size, "%x", static_cast<unsigned>(i * 20));
    chunked += std::string(size) + "\r\n" + std::string(static_cast<std::size_t>(i) * 20, static_cast<char>('a' + i % 26)) + "\r\n";
  }
  chunked += "0\r\nTrailer: ignored\r\n\r\n";
  const std::string bytes = "\r\nGET /first HTTP/1.1\r\nHost: a\r\n\r\n" + chunked +
                            "PUT /length HTTP/1.1\r\nHost: b\r\nContent-Length: 30000\r\n\r\n" + std::string(30'000, 'z') +
                            "GET http://h HTTP/1.0\r\nX-Long: " + std::string(12'000, 'm') + "\r\n\r\n" + chunked +
                            "GET /refused HTTP/3.0\r\n\r\n";
  const std::vector<std::string> whole = read_all(bytes, limits, 0);
  ASSERT_EQ(whole.size(), 6U);
  EXPECT_EQ(whole[0], "GET /first?\nHost=a\n");
  EXPECT_TRUE(whole[1].starts_with("POST /chunked?q=1\nHost=h\nTransfer-Encoding=chunked\nX-Long=lll"));
  EXPECT_EQ(whole[2], "PUT /length?\nHost=b\nContent-Length=30000\n" + std::string(30'000, 'z'));
  EXPECT_TRUE(whole[3].starts_with("GET /?\nX-Long=mmm") && whole[3].ends_with(" last"));
  EXPECT_EQ(whole[4], whole[1]);
  EXPECT_EQ(whole[5], "505 unsupported_version");
  for (std::uint64_t seed = 1; seed <= 200; ++seed) ASSERT_EQ(read_all(bytes, limits, seed), whole) << "seed " << seed;
}

TEST(RequestReader, RefusesTheSameHoweverTheBytesAreCut) {
  const Limits limits{.target_bytes_max = 50, .header_bytes_max = 200, .header_count_max = 5, .body_bytes_max = 100};
  const std::string good = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  for (const std::string& bad : {
           std::string("GET /") + std::string(60, 'p') + " HTTP/1.1\r\nHost: h\r\n\r\n",
           std::string("GET /") + std::string(300, 'p'),
           "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(300, 'x'),
           std::string("GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n"),
           std::string("GET / HTTP/1.1\nHost: h\r\n\r\n"),
           std::string("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n"),
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n" + std::string(50, 'x') + "\r\n33\r\n",
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(300, 'x'),
           std::string("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n"),
           std::string("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;a=\"b\"\r\nx\r\n02F;a=\"b\r\nxxx"),
       }) {
    const std::vector<std::string> whole = read_all(good + bad, limits, 0);
    ASSERT_EQ(whole.size(), 2U) << bad;
    EXPECT_TRUE(whole[1].starts_with('4')) << whole[1];
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
      ASSERT_EQ(read_all(good + bad, limits, seed), whole) << "seed " << seed << " of " << bad;
  }
}

TEST(RequestReader, HeldRequestDoesNotMoveWhileMoreBytesArrive) {
  const Limits limits;
  RequestReader reader(limits);
  const auto feed = [&](std::string_view bytes) {
    const std::span<char> space = reader.space();
    const std::size_t count = std::min(bytes.size(), space.size());
    std::memcpy(space.data(), bytes.data(), count);
    reader.received(count);
    return count;
  };
  const std::string request = "POST /held HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody";
  feed(request);
  ASSERT_EQ(reader.next(), RequestReader::Step::kHead);
  reader.accept_body(100);
  ASSERT_EQ(reader.next(), RequestReader::Step::kRequest);
  const char* const body = reader.request().body.data();
  std::size_t pipelined = 0;
  for (std::size_t count = 1; count > 0; pipelined += count) count = feed(request);
  EXPECT_GT(pipelined, 1000U);
  EXPECT_LT(pipelined, 100'000U);
  EXPECT_EQ(reader.request().body.data(), body);
  EXPECT_EQ(reader.request().body, "body");
  EXPECT_EQ(reader.request().path, "/held");
}

}  // namespace
}  // namespace margin::http
