#include "upstream/url.h"

#include <gtest/gtest.h>

namespace margin::upstream {
namespace {

TEST(Url, IsTakenApart) {
  const Result<Url> url = parse_url("HTTPS://Model.Example:8443/openai/v1/?api-version=2");
  ASSERT_TRUE(url.ok()) << url.error().message;
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "model.example");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/openai/v1/");
  EXPECT_EQ(url->query, "?api-version=2");
  EXPECT_EQ(url->host_header(), "model.example:8443");
}

TEST(Url, HasTheSchemesPortWhenItNamesNone) {
  EXPECT_EQ(parse_url("http://h")->port, 80);
  EXPECT_EQ(parse_url("https://h")->port, 443);
  EXPECT_EQ(parse_url("https://h/")->host_header(), "h");
  EXPECT_EQ(parse_url("https://h/")->authority(), "h:443");
  EXPECT_EQ(parse_url("http://h:443")->host_header(), "h:443");
}

TEST(Url, MayNameAnIpv6Address) {
  const Result<Url> url = parse_url("http://[2001:DB8::1]:8080/v1");
  ASSERT_TRUE(url.ok()) << url.error().message;
  EXPECT_EQ(url->host, "2001:db8::1");
  EXPECT_EQ(url->host_header(), "[2001:db8::1]:8080");
  EXPECT_EQ(parse_url("http://[::1]")->host_header(), "[::1]");
}

TEST(Url, WhatIsNoneIsRefusedWithTheReason) {
  const auto reason = [](std::string_view text) {
    const Result<Url> url = parse_url(text);
    if (url.ok()) return std::string("accepted");
    return url.error().message.substr(url.error().message.rfind(": ") + 2);
  };
  EXPECT_EQ(reason("ftp://h"), "it does not start with http:// or https://");
  EXPECT_EQ(reason("host:80"), "it does not start with http:// or https://");
  EXPECT_EQ(reason("http://"), "it names no host");
  EXPECT_EQ(reason("http:///path"), "it names no host");
  EXPECT_EQ(reason("http://h o/"), "it holds a character that has to be percent-encoded");
  EXPECT_EQ(reason("http://h/\r\nEvil: 1"), "it holds a character that has to be percent-encoded");
  EXPECT_EQ(reason("http://h(o)/"), "it names no host");
  EXPECT_EQ(reason("http://h:"), "the port is not a number from 1 to 65535");
  EXPECT_EQ(reason("http://h:0"), "the port is not a number from 1 to 65535");
  EXPECT_EQ(reason("http://h:65536"), "the port is not a number from 1 to 65535");
  EXPECT_EQ(reason("http://h:80x"), "the port is not a number from 1 to 65535");
  EXPECT_EQ(reason("http://[::1]80"), "it names no host");
  EXPECT_EQ(reason("http://[::1"), "it names no host");
  EXPECT_EQ(reason("http://h/#a"), "it has a fragment (#)");
}

TEST(Url, ItsPasswordIsNeverShown) {
  const Result<Url> url = parse_url("http://me:hidden@h:x/");
  ASSERT_FALSE(url.ok());
  EXPECT_EQ(url.error().message.find("hidden"), std::string::npos) << url.error().message;
}

// "direct" or "host:port" of the proxy.
std::string way_to(const std::string& url, const Environment& environment) {
  const Result<std::optional<Proxy>> proxy = proxy_for(*parse_url(url), environment);
  if (!proxy.ok()) return proxy.error().message;
  return *proxy ? (*proxy)->host + ":" + std::to_string((*proxy)->port) : "direct";
}

TEST(Proxy, IsChosenByScheme) {
  const Environment environment = {{"http_proxy", "http://p1:1"}, {"HTTPS_PROXY", "p2:2"}};
  EXPECT_EQ(way_to("http://h", environment), "p1:1");
  EXPECT_EQ(way_to("https://h", environment), "p2:2");
  EXPECT_EQ(way_to("http://h", {}), "direct");
  EXPECT_EQ(way_to("http://h", {{"http_proxy", ""}}), "direct");
  EXPECT_EQ(way_to("http://h", {{"http_proxy", "low:1"}, {"HTTP_PROXY", "up:1"}}), "low:1");
}

TEST(Proxy, IsNotUsedForLoopback) {
  const Environment environment = {{"http_proxy", "p:1"}};
  for (const char* const url : {"http://localhost:8000", "http://127.0.0.1", "http://127.9.9.9", "http://[::1]", "http://a.localhost"}) {
    EXPECT_EQ(way_to(url, environment), "direct") << url;
  }
  EXPECT_EQ(way_to("http://127.example.com", environment), "p:1");
}

TEST(Proxy, NoProxyExemptsHostsSuffixesAndPorts) {
  const auto way = [](const std::string& url, const std::string& no_proxy) {
    return way_to(url, {{"http_proxy", "p:1"}, {"no_proxy", no_proxy}});
  };
  EXPECT_EQ(way("http://a.example.com", "other, example.com"), "direct");
  EXPECT_EQ(way("http://example.com", "EXAMPLE.com"), "direct");
  EXPECT_EQ(way("http://example.com", ".example.com"), "direct");
  EXPECT_EQ(way("http://a.example.com", "*.example.com"), "direct");
  EXPECT_EQ(way("http://notexample.com", "example.com"), "p:1");
  EXPECT_EQ(way("http://h:8080", "h:8080"), "direct");
  EXPECT_EQ(way("http://h:8081", "h:8080"), "p:1");
  EXPECT_EQ(way("http://[fd00::1]:9", "[fd00::1]:9"), "direct");
  EXPECT_EQ(way("http://[fd00::1]:9", "fd00::1"), "direct");
  EXPECT_EQ(way("http://h", "*"), "direct");
  EXPECT_EQ(way("http://h", " , ,"), "p:1");
}

TEST(Proxy, AWrongVariableIsNamedWithoutItsPassword) {
  EXPECT_EQ(way_to("http://h", {{"http_proxy", "https://p:1"}}), "http_proxy: proxies are spoken to over http://, not https://");
  const std::string message = way_to("https://h", {{"HTTPS_PROXY", "socks://me:hidden@p"}});
  EXPECT_TRUE(message.starts_with("HTTPS_PROXY: ")) << message;
  EXPECT_EQ(message.find("hidden"), std::string::npos) << message;
}

// RFC 4648, section 10.
TEST(Proxy, CredentialsAreBasicAuthorization) {
  const auto authorization = [](const std::string& user) {
    const auto proxy = proxy_for(*parse_url("http://h"), {{"http_proxy", "http://" + user + "@p:1"}});
    return proxy.ok() && *proxy ? (*proxy)->authorization : std::string("none");
  };
  EXPECT_EQ(authorization("a:b"), "Basic YTpi");
  EXPECT_EQ(authorization("Aladdin:open%20sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(authorization("user"), "Basic dXNlcjo=");
}

}  // namespace
}  // namespace margin::upstream
