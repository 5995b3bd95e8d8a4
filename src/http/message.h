// A request as a handler sees it and a response as it gives it, with helpers for paths, queries and the one shape of errors.
// Used by every handler; free of Boost, so that handlers compile fast.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace margin::http {

struct Header {
  std::string_view name;
  std::string_view value;
};

// Names of headers are the same in any case. Most differ in length, which is seen without a call.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b);
[[nodiscard]] inline bool same_name(std::string_view a, std::string_view b) { return a.size() == b.size() && same_letters(a, b); }

// Whether a host, without its port, is this machine's own: "localhost", "::1", "[::1]" or 127.x.x.x. A name that merely begins with "127."
// could lead anywhere.
[[nodiscard]] bool is_loopback(std::string_view host);

// Whether a page of `origin` ("http://localhost:8080", as browsers send it) was served under `host` ("localhost:8080"): the same name and
// the same port. "null" and what is no origin never are.
[[nodiscard]] bool is_same_origin(std::string_view origin, std::string_view host);

// "localhost" of "localhost:8080", "[::1]" of "[::1]:8080".
[[nodiscard]] std::string_view without_port(std::string_view host);

// All views point into the connection's buffer: valid until the reply is sent or destroyed.
struct Request {
  std::string_view method;
  std::string_view path;   // without the query, percent-encoded as received; path_segments() decodes
  std::string_view query;  // what follows '?'
  std::string_view body;
  std::span<const Header> headers;
  std::string_view peer;  // address of the client, without port
  bool peer_is_loopback = false;
  bool keep_alive = true;
  bool http_1_0 = false;

  // The first header of that name, in any case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string_view content_type = kJson;  // lives until the response is sent; empty: no such header
  std::string body;
  // Further headers, whose names are constants. Content-Length, Connection, Date and Transfer-Encoding are the server's.
  std::vector<std::pair<std::string_view, std::string>> headers;

  static constexpr std::string_view kJson = "application/json";
};

// "Not Found" for 404; "Unknown" for a status without a name.
[[nodiscard]] std::string_view reason_of(int status);

struct ErrorBody {
  std::string_view message;
  std::string_view code;        // "body_too_large"
  std::string_view param = {};  // the field that is wrong; null when empty
  std::string_view type = {};   // by status when empty
};
// {"error":{"message","type","param","code"}}: the one shape of every error.
[[nodiscard]] Response error_response(int status, const ErrorBody& error);

// "a%20b" -> "a b"; nothing when a percent sign is not followed by two hexadecimal digits. '+' stays.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);

// "/v1/pools/a%2Fb" -> {"v1", "pools", "a/b"}; nothing when a segment is malformed. A trailing slash gives an empty last segment.
[[nodiscard]] std::optional<std::vector<std::string>> path_segments(std::string_view path);

// The decoded value of the first `name` in "a=1&name=b+c" ('+' is a space there); nothing when absent or malformed.
[[nodiscard]] std::optional<std::string> query_value(std::string_view query, std::string_view name);

}  // namespace margin::http
