#include "upstream/url.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "http/message.h"

namespace margin::upstream {
namespace {

using internal::printable;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == ':' || c == '%';
}

std::string bracketed(const std::string& host) { return host.find(':') != std::string::npos ? "[" + host + "]" : host; }

struct HostPort {
  std::string_view host;
  std::string_view port;  // empty: none
};

// "host:port", "[::1]:port", "::1".
HostPort split_host_port(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    const std::string_view after = bracket == std::string_view::npos ? text : text.substr(bracket + 1);
    if (!after.empty() && !after.starts_with(':')) return {text, {}};  // no host has a bracket
    return {text.substr(1, bracket - 1), after.substr(std::min<std::size_t>(after.size(), 1))};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) return {text, {}};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : kDigits[group >> (18 - 6 * j) & 63U];
  }
  return text;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost") || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

bool exempts(std::string_view no_proxy, const Url& url) {
  while (!no_proxy.empty()) {
    const std::size_t comma = std::min(no_proxy.find(','), no_proxy.size());
    const std::string_view entry = trim(no_proxy.substr(0, comma));
    no_proxy.remove_prefix(std::min(comma + 1, no_proxy.size()));
    if (entry == "*") return true;
    const HostPort parts = split_host_port(entry);
    std::string host = lower(parts.host);
    if (host.starts_with("*.")) host.erase(0, 1);
    if (host.starts_with('.')) host.erase(0, 1);
    if (host.empty() || (!parts.port.empty() && parse_port(parts.port) != url.port)) continue;
    if (url.host == host || url.host.ends_with("." + host)) return true;
  }
  return false;
}

struct Variable {
  std::string name;
  std::string_view value;
};

std::optional<Variable> find_variable(const Environment& environment, const std::string& name) {
  std::string upper = name;
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  for (const std::string& candidate : {name, upper}) {
    const auto found = environment.find(candidate);
    if (found != environment.end() && !found->second.empty()) return Variable{candidate, found->second};
  }
  return std::nullopt;
}

}  // namespace

std::string Url::authority() const { return bracketed(host) + ":" + std::to_string(port); }

std::string Url::host_header() const { return port == (tls ? 443 : 80) ? bracketed(host) : authority(); }

Result<Url> parse_url(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  const std::string scheme = lower(text.substr(0, std::min(scheme_end, text.size())));
  std::string_view rest = text.substr(scheme_end == std::string_view::npos ? text.size() : scheme_end + 3);
  Url url;
  const std::size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, slash);
  rest.remove_prefix(slash);
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    url.user = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  const auto wrong = [&](std::string_view why) {
    const std::size_t secret_end = text.rfind('@');
    const std::string shown = secret_end == std::string_view::npos ? std::string(text) : "..." + std::string(text.substr(secret_end));
    return Error{ErrorCode::kInvalidArgument,
                 "'" + printable(shown, 200) + "' is not a URL http(s)://host[:port][/path]: " + std::string(why)};
  };
  if (scheme != "http" && scheme != "https") return wrong("it does not start with http:// or https://");
  if (!is_visible_ascii(text)) return wrong("it holds a character that has to be percent-encoded");
  url.tls = scheme == "https";
  const HostPort parts = split_host_port(authority);
  url.host = lower(parts.host);
  if (url.host.empty() || !std::all_of(url.host.begin(), url.host.end(), is_host_character)) return wrong("it names no host");
  url.port = url.tls ? 443 : 80;
  if (authority.ends_with(':') || !parts.port.empty()) {
    const std::optional<std::uint16_t> port = parse_port(parts.port);
    if (!port) return wrong("the port is not a number from 1 to 65535");
    url.port = *port;
  }
  if (rest.find('#') != std::string_view::npos) return wrong("it has a fragment (#)");
  const std::size_t question = std::min(rest.find('?'), rest.size());
  url.query = rest.substr(question);
  url.path = rest.substr(0, question);
  return url;
}

Result<std::optional<Proxy>> proxy_for(const Url& url, const Environment& environment) {
  const std::optional<Variable> variable = find_variable(environment, url.tls ? "https_proxy" : "http_proxy");
  if (!variable || is_loopback(url.host)) return std::optional<Proxy>();
  const std::optional<Variable> no_proxy = find_variable(environment, "no_proxy");
  if (no_proxy && exempts(no_proxy->value, url)) return std::optional<Proxy>();
  const bool has_scheme = variable->value.find("://") != std::string_view::npos;
  Result<Url> parsed = parse_url(has_scheme ? std::string(variable->value) : "http://" + std::string(variable->value));
  if (!parsed.ok()) return Error{ErrorCode::kInvalidArgument, variable->name + ": " + parsed.error().message};
  if (parsed->tls) return Error{ErrorCode::kInvalidArgument, variable->name + ": proxies are spoken to over http://, not https://"};
  Proxy proxy{parsed->host, parsed->port, {}};
  if (!parsed->user.empty()) {
    const std::optional<std::string> user = http::percent_decode(parsed->user);
    if (!user) return Error{ErrorCode::kInvalidArgument, variable->name + ": a percent sign before '@' is not followed by two digits"};
    proxy.authorization = "Basic " + base64(user->find(':') == std::string::npos ? *user + ":" : *user);
  }
  return std::optional<Proxy>(std::move(proxy));
}

}  // namespace margin::upstream
