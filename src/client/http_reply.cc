// parse_reply: the response to a request that asked for the connection's end.
#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "client/http_client.h"

namespace margin::client {
namespace {

Error no_response(std::string_view why) { return {ErrorCode::kCorrupt, "what came back is no HTTP response: " + std::string(why)}; }

bool same_name(std::string_view a, std::string_view lower) {
  const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return a.size() == lower.size() && std::equal(a.begin(), a.end(), lower.begin(), [&](char x, char y) { return fold(x) == y; });
}

// Takes a line without its end off the front; nullopt: there is no whole one.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 2);
  return line;
}

template <class Number>
bool read_number(std::string_view text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

Result<std::string> unchunked(std::string_view text) {
  std::string body;
  for (;;) {
    const std::optional<std::string_view> line = take_line(text);
    std::size_t size = 0;
    if (!line || !read_number(line->substr(0, line->find(';')), size, 16)) return no_response("a chunk without a size");
    if (size == 0) return body;
    if (text.size() < 2 || size > text.size() - 2 || text.substr(size, 2) != "\r\n") return no_response("it ends within a chunk");
    body += text.substr(0, size);
    text.remove_prefix(size + 2);
  }
}

}  // namespace

Result<HttpReply> parse_reply(std::string_view bytes) {
  const std::optional<std::string_view> opening = take_line(bytes);
  HttpReply reply;
  constexpr std::size_t kStatusAt = 9;  // "HTTP/1.1 200 OK"
  const bool is_http = opening && opening->size() >= kStatusAt + 3 && opening->starts_with("HTTP/1.") && (*opening)[kStatusAt - 1] == ' ';
  if (!is_http || !read_number(opening->substr(kStatusAt, 3), reply.status)) {
    return no_response(opening ? "it begins with " + internal::printable(*opening, 40) : std::string("it has no first line"));
  }
  bool chunked = false;
  std::optional<std::size_t> length;
  for (;;) {
    const std::optional<std::string_view> line = take_line(bytes);
    if (!line) return no_response("it ends within its headers");
    if (line->empty()) break;
    const std::size_t colon = std::min(line->find(':'), line->size());
    std::string_view value = line->substr(std::min(colon + 1, line->size()));
    while (value.starts_with(' ')) value.remove_prefix(1);
    while (value.ends_with(' ')) value.remove_suffix(1);
    if (same_name(line->substr(0, colon), "transfer-encoding")) chunked = same_name(value, "chunked");
    if (same_name(line->substr(0, colon), "content-length") && !read_number(value, length.emplace()))
      return no_response("its length is no number");
  }
  if (chunked) {
    Result<std::string> body = unchunked(bytes);
    if (!body) return body.error();
    reply.body = *std::move(body);
    return reply;
  }
  if (length && *length > bytes.size()) return no_response("it ends before its body does");
  reply.body = bytes.substr(0, length.value_or(bytes.size()));
  return reply;
}

}  // namespace margin::client
