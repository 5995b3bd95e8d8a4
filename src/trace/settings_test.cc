#include "trace/settings.h"

#include <gtest/gtest.h>

namespace margin::trace {
namespace {

using namespace std::chrono_literals;

Settings settings(const Configured& configured, const Environment& environment) {
  const Result<Settings> made = trace_settings(configured, environment, "1.2.3");
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  return made.ok() ? *made : Settings{};
}

std::string error_of(const Configured& configured, const Environment& environment) {
  const Result<Settings> made = trace_settings(configured, environment, "1.2.3");
  return made.ok() ? "accepted" : made.error().message;
}

TEST(TraceSettings, NothingIsRecordedUnlessAnEndpointIsNamed) { EXPECT_EQ(settings({}, {{"OTEL_SERVICE_NAME", "a"}}).url, ""); }

TEST(TraceSettings, TheEndpointIsFoundAsOpenTelemetryHasIt) {
  const Environment both = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"}, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t:1/own"}};
  EXPECT_EQ(settings({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"}}).url, "http://c:4318/v1/traces");
  EXPECT_EQ(settings({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c/base"}}).url, "http://c/base/v1/traces");
  EXPECT_EQ(settings({}, both).url, "http://t:1/own");
  EXPECT_EQ(settings({.endpoint = "http://m:4318"}, both).url, "http://m:4318/v1/traces") << "what MARGIN itself is told wins";
}

TEST(TraceSettings, OpenTelemetrysSwitchesTurnItOff) {
  Environment environment = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}, {"OTEL_SDK_DISABLED", "TRUE"}};
  EXPECT_EQ(settings({}, environment).url, "");
  environment = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"}, {"OTEL_TRACES_EXPORTER", "none"}};
  EXPECT_EQ(settings({}, environment).url, "");
}

TEST(TraceSettings, HeadersTimeoutAndCertificateAreRead) {
  const Settings made = settings({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://c"},
                                      {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x = y=z ,"},
                                      {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
                                      {"OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem"}});
  const std::vector<std::pair<std::string, std::string>> expected = {{"api-key", "a b"}, {"x", "y=z"}};
  EXPECT_EQ(made.headers, expected);
  EXPECT_EQ(made.timeout, 2500ms);
  EXPECT_EQ(made.ca_file, "ca.pem");
}

TEST(TraceSettings, TheServiceHasAName) {
  const auto name = [](const Configured& configured, Environment environment) {
    environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://c";
    return std::get<std::string>(settings(configured, environment).resource.all().front().second);
  };
  EXPECT_EQ(name({}, {}), "margin");
  EXPECT_EQ(name({}, {{"OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod,service.name=r"}}), "r");
  EXPECT_EQ(name({}, {{"OTEL_SERVICE_NAME", "s"}, {"OTEL_RESOURCE_ATTRIBUTES", "service.name=r"}}), "s");
  EXPECT_EQ(name({.service = "c"}, {{"OTEL_SERVICE_NAME", "s"}}), "c");
}

TEST(TraceSettings, WhatMakesNoSenseIsNamedWithoutSecrets) {
  EXPECT_EQ(error_of({.endpoint = "c:4318"}, {}),
            "trace.endpoint: 'c:4318/v1/traces' is not a URL http(s)://host[:port][/path]: it does not start with http:// or https://");
  EXPECT_EQ(error_of({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {"OTEL_EXPORTER_OTLP_HEADERS", "hidden"}}),
            "OTEL_EXPORTER_OTLP_HEADERS: expected name=value pairs with commas between them, values percent-encoded");
  EXPECT_EQ(error_of({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {"OTEL_EXPORTER_OTLP_TIMEOUT", "5s"}}),
            "OTEL_EXPORTER_OTLP_TIMEOUT: expected milliseconds in [1, 3600000]");
}

}  // namespace
}  // namespace margin::trace
