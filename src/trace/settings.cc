#include "trace/settings.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "http/message.h"

namespace margin::trace {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A value and the name of where it stands; both empty: it is nowhere.
struct Found {
  std::string_view name;
  std::string value;
};

Found find(const Environment& environment, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto found = environment.find(name);
    if (found != environment.end() && !found->second.empty()) return {name, found->second};
  }
  return {};
}

Error wrong(std::string_view name, const std::string& why) { return {ErrorCode::kInvalidArgument, std::string(name) + ": " + why}; }

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// "name=value,name=value", values percent-encoded.
Result<Pairs> parse_pairs(const Found& list) {
  Pairs pairs;
  std::string_view rest = list.value;
  while (!rest.empty()) {
    const std::string_view item = trim(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), std::min(rest.find(','), rest.size()) + 1));
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    const std::string name(trim(item.substr(0, equals)));
    const auto value = equals == std::string_view::npos ? std::nullopt : http::percent_decode(trim(item.substr(equals + 1)));
    if (name.empty() || !value) return wrong(list.name, "expected name=value pairs with commas between them, values percent-encoded");
    pairs.emplace_back(name, *value);
  }
  return pairs;
}

Result<std::chrono::milliseconds> parse_timeout(const Found& text, std::chrono::milliseconds otherwise) {
  if (text.value.empty()) return otherwise;
  std::int64_t ms = 0;
  const char* const end = text.value.data() + text.value.size();
  const auto [stopped, error] = std::from_chars(text.value.data(), end, ms);
  if (error != std::errc() || stopped != end || ms < 1 || ms > 3'600'000) return wrong(text.name, "expected milliseconds in [1, 3600000]");
  return std::chrono::milliseconds(ms);
}

bool turned_off(const Environment& environment) {
  const Found disabled = find(environment, {"OTEL_SDK_DISABLED"});
  return http::same_name(disabled.value, "true") || find(environment, {"OTEL_TRACES_EXPORTER"}).value == "none";
}

std::string with_traces_path(std::string base) {
  while (base.ends_with('/')) base.pop_back();
  return base + "/v1/traces";
}

}  // namespace

Result<Settings> trace_settings(const Configured& configured, const Environment& environment, std::string version) {
  Settings settings;
  settings.version = std::move(version);
  settings.sample = configured.sample;
  Found endpoint{"trace.endpoint", configured.endpoint.empty() ? "" : with_traces_path(configured.endpoint)};
  if (endpoint.value.empty() && !turned_off(environment)) {
    endpoint = find(environment, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"});
    if (endpoint.value.empty()) {
      endpoint = find(environment, {"OTEL_EXPORTER_OTLP_ENDPOINT"});
      if (!endpoint.value.empty()) endpoint.value = with_traces_path(endpoint.value);
    }
  }
  if (endpoint.value.empty()) return settings;
  const auto url = upstream::parse_url(endpoint.value);
  if (!url) return wrong(endpoint.name, url.error().message);
  settings.url = endpoint.value;
  settings.ca_file = find(environment, {"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"}).value;

  Found headers{"trace.headers", configured.headers};
  if (headers.value.empty()) headers = find(environment, {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"});
  Result<Pairs> pairs = parse_pairs(headers);
  if (!pairs) return pairs.error();
  settings.headers = std::move(*pairs);

  const Found timeouts = find(environment, {"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"});
  const auto timeout = parse_timeout(timeouts, settings.timeout);
  if (!timeout) return timeout.error();
  settings.timeout = *timeout;

  const Result<Pairs> resource = parse_pairs(find(environment, {"OTEL_RESOURCE_ATTRIBUTES"}));
  if (!resource) return resource.error();
  std::string service = configured.service.empty() ? find(environment, {"OTEL_SERVICE_NAME"}).value : configured.service;
  for (const auto& [name, value] : *resource) {
    if (name == "service.name" && service.empty()) service = value;
  }
  settings.resource.set("service.name", service.empty() ? "margin" : service);
  settings.resource.set("service.version", settings.version);
  for (const auto& [name, value] : *resource) {
    if (name != "service.name" && name != "service.version") settings.resource.set(name, value);
  }
  return settings;
}

}  // namespace margin::trace
