#include "http/message.h"

#include <gtest/gtest.h>

namespace margin::http {
namespace {

TEST(Message, HeadersAreFoundInAnyCaseAndTheFirstWins) {
  const std::vector<Header> headers = {{"Host", "a"}, {"X-Id", "1"}, {"x-id", "2"}};
  Request request;
  request.headers = headers;
  EXPECT_EQ(request.header("HOST"), "a");
  EXPECT_EQ(request.header("x-ID"), "1");
  EXPECT_EQ(request.header("x-i"), std::nullopt);
}

TEST(Message, LoopbackIsWhatThisMachineCallsItself) {
  for (const char* own : {"localhost", "LocalHost", "127.0.0.1", "127.0.0.2", "127.255.255.255", "::1", "[::1]"}) {
    EXPECT_TRUE(is_loopback(own)) << own;
  }
  for (const char* other :
       {"", "127", "127.", "127.0.0", "127.0.0.", "127.0.0.1.", "127.0.0.1.evil.example", "127.evil.example", "127.0.0.256", "127.0.0.0001",
        "127.0.0.-1", "126.0.0.1", "128.0.0.1", "0.0.0.0", "localhost.evil.example", "[::1", "::2"}) {
    EXPECT_FALSE(is_loopback(other)) << other;
  }
}

TEST(Message, AnOriginIsNameAndPort) {
  EXPECT_EQ(without_port("localhost:8080"), "localhost");
  EXPECT_EQ(without_port("[::1]:8080"), "[::1]");
  EXPECT_EQ(without_port("[::1"), "[::1");
  EXPECT_EQ(without_port(""), "");
  EXPECT_TRUE(is_same_origin("http://localhost:8080", "LOCALHOST:8080"));
  EXPECT_TRUE(is_same_origin("http://localhost", "localhost:80"));
  EXPECT_TRUE(is_same_origin("https://localhost", "localhost:443"));
  EXPECT_TRUE(is_same_origin("http://[::1]:9", "[::1]:9"));
  for (const char* other :
       {"http://localhost:3000", "http://127.0.0.1:8080", "http://localhost", "null", "", "localhost:8080", "http://"}) {
    EXPECT_FALSE(is_same_origin(other, "localhost:8080")) << other;
  }
}

TEST(Message, PercentSignsNeedTwoHexadecimalDigits) {
  EXPECT_EQ(percent_decode("a%20b%2fc+"), "a b/c+");
  EXPECT_EQ(percent_decode("%41%4a"), "AJ");
  for (const char* bad : {"%", "%4", "a%4", "%G0", "%0g", "%-1"}) EXPECT_EQ(percent_decode(bad), std::nullopt) << bad;
}

TEST(Message, PathsAreCutBeforeTheyAreDecoded) {
  using Segments = std::vector<std::string>;
  EXPECT_EQ(path_segments("/v1/pools/a%2Fb"), (Segments{"v1", "pools", "a/b"}));
  EXPECT_EQ(path_segments("/"), (Segments{""}));
  EXPECT_EQ(path_segments("/v1/"), (Segments{"v1", ""}));
  EXPECT_EQ(path_segments("/v1/%zz"), std::nullopt);
}

TEST(Message, QueryValuesAreDecoded) {
  EXPECT_EQ(query_value("a=1&b=x+y%26z&b=2", "b"), "x y&z");
  EXPECT_EQ(query_value("a=1&flag&c", "flag"), "");
  EXPECT_EQ(query_value("a=1", "b"), std::nullopt);
  EXPECT_EQ(query_value("", "b"), std::nullopt);
  EXPECT_EQ(query_value("b=%", "b"), std::nullopt);
}

TEST(Message, ErrorsHaveAllFourKeysAndHostileTextIsEscaped) {
  const Response response = error_response(404, {.message = "no pool \"a\n\"", .code = "pool_not_found", .param = "pool"});
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body,
            R"({"error":{"message":"no pool \"a\u000a\"","type":"invalid_request_error","param":"pool","code":"pool_not_found"}})");
  EXPECT_NE(error_response(503, {.message = "x", .code = "y"}).body.find(R"("type":"overloaded_error","param":null)"), std::string::npos);
}

}  // namespace
}  // namespace margin::http
