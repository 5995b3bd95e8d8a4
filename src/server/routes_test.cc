// The route table: which path means what, and that openapi.json says the same.
#include "server/routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "json/json.h"
#include "server/openapi.h"
#include "server/query.h"

namespace margin::server {
namespace {

TEST(Routes, NamedPartsAreDecoded) {
  const Match found = match("DELETE", "/v1/pools/law/models/meta%2Fllama%203", Audience::kAll);
  ASSERT_NE(found.route, nullptr);
  EXPECT_EQ(found.route->pattern, "/v1/pools/{pool}/models/{model}");
  EXPECT_EQ(found.arguments, (std::vector<std::string>{"law", "meta/llama 3"}));
}

TEST(Routes, AnotherMethodOfAPathIsNotNotFound) {
  const Match found = match("PATCH", "/v1/pools/law", Audience::kAll);
  EXPECT_EQ(found.route, nullptr);
  EXPECT_EQ(found.allowed, "GET, PUT");
}

TEST(Routes, UnknownAndMalformedPathsHaveNoRoute) {
  for (const std::string_view path :
       {"", "/v1", "/v1/pools/", "/v1/pools//factors", "/v1/pools/%zz", "/v1/decide/", "v1/decide", "/v1/pools/a/b/c"}) {
    const Match found = match("GET", path, Audience::kAll);
    EXPECT_EQ(found.route, nullptr) << path;
    EXPECT_EQ(found.allowed, "") << path;
  }
}

TEST(Routes, HeadIsAnsweredLikeGet) {
  EXPECT_EQ(match("HEAD", "/health", Audience::kAll).route, match("GET", "/health", Audience::kAll).route);
}

TEST(Routes, ToClientsAloneThoseOfOperatorsDoNotExist) {
  std::set<std::string> hidden;
  for (const Route& route : routes()) {
    const Match found =
        match(route.method, route.pattern == "/dashboard/assets/{file}" ? "/dashboard/assets/x.js" : route.pattern, Audience::kClients);
    if (found.route == nullptr) hidden.insert(std::string(route.method) + " " + std::string(route.pattern));
    EXPECT_EQ(found.route == nullptr, route.for_operators) << route.method << " " << route.pattern;
    EXPECT_FALSE(route.scope == access::Scope::kAdmin && !route.for_operators) << route.pattern;
  }
  for (const char* known : {"GET /metrics", "GET /status", "GET /", "GET /dashboard", "GET /dashboard/", "GET /dashboard/assets/{file}",
                            "PUT /v1/pools/{pool}", "POST /v1/experiments", "POST /v1/feedback/revert"}) {
    EXPECT_TRUE(hidden.contains(known)) << known;
  }
  for (const char* open :
       {"POST /v1/decide", "GET /health", "GET /ready", "GET /openapi.json", "GET /v1/pools/{pool}", "GET /v1/session"}) {
    EXPECT_FALSE(hidden.contains(open)) << open;
  }
  EXPECT_EQ(match("GET", "/v1/pools/law/state", Audience::kClients).allowed, "") << "no method of the path is there: not found";
  EXPECT_EQ(match("PATCH", "/v1/pools/law", Audience::kClients).allowed, "GET") << "nor is a hidden one named";
}

TEST(Routes, TheOpenApiDocumentHasTheQueryAndBodyOfEachRoute) {
  JsonParser parser(64);
  const auto document = parser.parse(openapi_document());
  ASSERT_TRUE(document.ok()) << document.error().message;
  for (const Route& route : routes()) {
    std::string method(route.method);
    std::transform(method.begin(), method.end(), method.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const Json* operation = (*document)->find("paths")->find(route.pattern)->find(method);
    ASSERT_NE(operation, nullptr) << route.pattern;
    std::string described;
    if (const Json* parameters = operation->find("parameters")) {
      for (const Json& parameter : parameters->items()) {
        if (parameter.find("in")->text() != "query") continue;
        described += (described.empty() ? "" : " ") + std::string(parameter.find("name")->text());
      }
    }
    EXPECT_EQ(route.query, described) << method << " " << route.pattern;
    EXPECT_EQ(route.takes_body(), operation->find("requestBody") != nullptr) << method << " " << route.pattern;
  }
}

TEST(Query, OnlyWhatARouteKnowsIsTaken) {
  EXPECT_EQ(check_query("", ""), std::nullopt);
  EXPECT_EQ(check_query("limit=5&po%6fl=a%20b", "limit pool"), std::nullopt);
  const auto told = [](std::string_view query, std::string_view known) { return check_query(query, known).value_or(Fault{}).message; };
  EXPECT_EQ(told("limit=5&foo=1", "limit pool"), "query: no parameter named foo, expected limit, pool");
  EXPECT_EQ(told("foo", ""), "query: no parameter named foo, this path takes none");
  EXPECT_EQ(told("limit=%zz", "limit"), "query: got limit=%zz, expected two hexadecimal digits behind each %");
  EXPECT_EQ(told("%=1", "limit"), "query: got %=1, expected two hexadecimal digits behind each %");
  EXPECT_EQ(told("limit=1&limit=2", "limit"), "limit: expected it once");
}

TEST(Query, AFlagIsTrueOrFalse) {
  std::optional<bool> flag;
  EXPECT_EQ(read_flag("", "digest", flag), std::nullopt);
  EXPECT_EQ(flag, std::nullopt);
  EXPECT_EQ(read_flag("digest=true", "digest", flag), std::nullopt);
  EXPECT_EQ(flag, true);
  EXPECT_EQ(read_flag("digest=yes", "digest", flag).value_or(Fault{}).message, "digest: got yes, expected true or false");
  EXPECT_NE(read_flag("digest", "digest", flag), std::nullopt);
}

TEST(Routes, TheOpenApiDocumentHasExactlyTheseRoutes) {
  JsonParser parser(64);
  const auto document = parser.parse(openapi_document());
  ASSERT_TRUE(document.ok()) << document.error().message;
  std::set<std::string> described;
  for (const Json& path : (*document)->find("paths")->items()) {
    for (const Json& operation : path.items()) {
      std::string method(operation.key());
      std::transform(method.begin(), method.end(), method.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      const auto security = operation.find("security")->items();
      const std::string scope = security.empty() ? "none" : std::string(security[0].items()[0].items()[0].text());
      described.insert(method + " " + std::string(path.key()) + " " + scope);
    }
  }
  std::set<std::string> routed;
  for (const Route& route : routes()) {
    const std::string scope = route.scope ? std::string(access::kScopeNames[static_cast<std::size_t>(*route.scope)]) : "none";
    routed.insert(std::string(route.method) + " " + std::string(route.pattern) + " " + scope);
  }
  EXPECT_EQ(routed, described);
}

}  // namespace
}  // namespace margin::server
