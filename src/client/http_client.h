// A small HTTP/1.1 client, one request per connection: how the commands reach a running server.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "margin/result.h"

namespace margin::client {

struct Endpoint {
  bool tls = false;
  std::string host;
  std::string port;
};
// "http://127.0.0.1:8080" or "https://margin.example"; nothing may follow but a slash. kInvalidArgument.
[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view url);

struct HttpRequest {
  std::string method = "POST";
  std::string path;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

struct HttpReply {
  int status = 0;
  std::string body;
};

struct HttpOptions {
  std::string certificates;  // PEM file of those to be trusted; empty: the system's
  int timeout_s = 30;        // for each wait
};

// kNotFound: nobody answers there; kCorrupt: what came is no HTTP response; kLimit: it is larger than 16 MiB; kInvalidArgument: a header
// that would break the request.
[[nodiscard]] Result<HttpReply> ask(const Endpoint& server, const HttpRequest& request, const HttpOptions& options);

// The bytes of a whole response, as read until the connection's end. kCorrupt.
[[nodiscard]] Result<HttpReply> parse_reply(std::string_view bytes);

}  // namespace margin::client
