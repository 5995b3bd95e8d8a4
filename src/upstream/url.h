// Where an upstream is, and through which proxy it is reached. Used by Upstream; no I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "margin/result.h"

namespace margin::upstream {

using Environment = std::map<std::string, std::string, std::less<>>;

struct Url {
  bool tls = false;
  std::string host;  // in lower case, an IPv6 address without its brackets
  std::uint16_t port = 0;
  std::string path;   // "" or "/v1/", as written
  std::string query;  // "" or "?api-version=1"
  std::string user;   // "name:password" as written, percent-encoded

  // "host:port" as CONNECT takes it, and "host" with ":port" only where it is not the scheme's, as the Host header has it.
  [[nodiscard]] std::string authority() const;
  [[nodiscard]] std::string host_header() const;
};

// http(s)://[user@]host[:port][/path][?query]. kInvalidArgument; the message never shows what stands before '@'.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

struct Proxy {
  std::string host;
  std::uint16_t port = 0;
  std::string authorization;  // value of Proxy-Authorization; empty: none
};

// By http_proxy or https_proxy and no_proxy ("*", "host", ".suffix", "host:port"; a host means its subdomains too); lower case wins over
// upper case. Loopback is always reached directly. kInvalidArgument: the variable is not a http:// URL; the message names the variable.
[[nodiscard]] Result<std::optional<Proxy>> proxy_for(const Url& url, const Environment& environment);

}  // namespace margin::upstream
