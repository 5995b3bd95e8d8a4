#include "http/message.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"

namespace margin::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string_view type_of(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 408: return "timeout_error";
    case 429: return "rate_limit_error";
    case 502: return "upstream_error";
    case 503: return "overloaded_error";
    case 504: return "timeout_error";
    default: return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) {
  return a == b || std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

bool is_loopback(std::string_view host) {
  constexpr std::string_view kUsual = "127.0.0.1";
  if (host == kUsual || same_name(host, "localhost") || host == "::1" || host == "[::1]") return true;
  int parts = 0;
  for (std::size_t digits = 0; !host.empty(); ++parts) {
    for (digits = 0; digits < host.size() && host[digits] >= '0' && host[digits] <= '9';) ++digits;
    const std::string_view part = host.substr(0, digits);
    const bool legal = digits >= 1 && digits <= 3 && (digits < 3 || part <= "255") && (parts > 0 || part == "127");
    const bool last = digits == host.size();
    if (!legal || (!last && host[digits] != '.') || (!last && digits + 1 == host.size())) return false;
    host.remove_prefix(last ? digits : digits + 1);
  }
  return parts == 4;
}

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, std::min(host.find(']'), host.size() - 1) + 1);
  return host.substr(0, host.find(':'));
}

bool is_same_origin(std::string_view origin, std::string_view host) {
  constexpr std::string_view kScheme = "://";
  const std::size_t scheme = origin.find(kScheme);
  if (scheme == std::string_view::npos) return false;
  const std::string_view usual = same_name(origin.substr(0, scheme), "https") ? ":443" : ":80";
  const std::string_view authority = origin.substr(scheme + kScheme.size());
  const auto port = [&](std::string_view text) {
    const std::string_view stated = text.substr(without_port(text).size());
    return stated.empty() ? usual : stated;
  };
  return same_name(without_port(authority), without_port(host)) && port(authority) == port(host);
}

std::optional<std::string_view> Request::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (same_name(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 207: return "Multi-Status";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return "Unknown";
  }
}

Response error_response(int status, const ErrorBody& error) {
  const auto text_or_null = [](std::string_view text) { return text.empty() ? "null" : internal::json_string(text); };
  Response response;
  response.status = status;
  response.body = "{\"error\":{\"message\":" + internal::json_string(error.message) +
                  ",\"type\":" + internal::json_string(error.type.empty() ? type_of(status) : error.type) +
                  ",\"param\":" + text_or_null(error.param) + ",\"code\":" + text_or_null(error.code) + "}}";
  return response;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::optional<std::vector<std::string>> path_segments(std::string_view path) {
  std::vector<std::string> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const std::size_t end = std::min(path.find('/'), path.size());
    std::optional<std::string> segment = percent_decode(path.substr(0, end));
    if (!segment) return std::nullopt;
    segments.push_back(*std::move(segment));
    if (end == path.size()) return segments;
    path.remove_prefix(end + 1);
  }
}

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (percent_decode(pair.substr(0, equals)) == name) {
      std::string value(pair.substr(std::min(equals + 1, pair.size())));
      std::replace(value.begin(), value.end(), '+', ' ');
      return percent_decode(value);
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return std::nullopt;
}

}  // namespace margin::http
