#include "server/answer.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace margin::server {

using std::chrono_literals::operator""ns;

namespace {

struct Shape {
  int status;
  std::string_view code;
};

Shape shape_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return {400, "invalid_value"};
    case ErrorCode::kNotFound: return {404, "not_found"};
    case ErrorCode::kConflict: return {409, "conflict"};
    case ErrorCode::kLimit: return {422, "limit_exceeded"};
    case ErrorCode::kUnsupported: return {422, "unsupported"};
    case ErrorCode::kUnavailable: return {503, "store_unavailable"};
    case ErrorCode::kCorrupt: return {500, "corrupt"};
  }
  return {500, "internal"};
}

// Messages begin with the field they are about, "responses[3].confidence: got ...".
std::string_view field_of(std::string_view message) {
  const std::string_view head = message.substr(0, message.find(':'));
  const auto belongs = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '[' || c == ']';
  };
  const bool is_field = head.size() < message.size() && !head.empty() && std::all_of(head.begin(), head.end(), belongs);
  return is_field && head != "body" ? head : std::string_view();
}

}  // namespace

http::Response refusal(int status, std::string_view code, std::string_view message, std::string_view param) {
  http::Response response = http::error_response(status, {.message = message, .code = code, .param = param});
  if (status == 503 || status == 429) response.headers.emplace_back("Retry-After", "1");
  return response;
}

http::Response too_early(std::int64_t wait_ms, std::string_view code, std::string_view message) {
  constexpr std::int64_t kSecondMs = 1000;
  http::Response response = http::error_response(429, {.message = message, .code = code});
  // Who reads only the seconds must not come too early again.
  response.headers.emplace_back("Retry-After", std::to_string((wait_ms + kSecondMs - 1) / kSecondMs));
  response.headers.emplace_back("retry-after-ms", std::to_string(wait_ms));
  return response;
}

http::Response refusal(const Error& error) {
  const Shape shape = shape_of(error.code);
  return refusal(shape.status, shape.code, error.message, field_of(error.message));
}

http::Response refusal(const Fault& fault) { return refusal(400, "invalid_value", fault.message, fault.param); }

void Answer::note(int status, std::chrono::nanoseconds took) {
  if (on_sent_) on_sent_({status, took, key_});
}

// Milliseconds with the microseconds behind the point.
void Answer::add_overhead(std::chrono::nanoseconds took) {
  constexpr std::int64_t kMsUs = 1000;
  const auto us = std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(took - waited_.value_or(0ns)).count());
  std::array<char, 24> text{};
  char* const point = std::to_chars(text.data(), text.data() + text.size(), us / kMsUs).ptr;
  *std::to_chars(point, text.data() + text.size(), kMsUs + us % kMsUs).ptr = '\0';
  *point = '.';  // in the place of the 1 that keeps the zeros before the microseconds
  add_header("x-margin-overhead-ms", text.data());
}

void Answer::send(http::Response&& response) {
  if (std::exchange(over_, true)) return;
  const std::chrono::nanoseconds took = age();
  add_overhead(took);
  if (response.headers.empty()) {
    response.headers = std::move(headers_);
  } else {
    for (auto& header : headers_) response.headers.push_back(std::move(header));
  }
  note(response.status, took);
  std::move(reply_).send(std::move(response));
}

void Answer::json(std::string body, int status) {
  http::Response response;
  response.status = status;
  response.body = std::move(body);
  send(std::move(response));
}

http::Stream Answer::stream(http::Response head) {
  if (std::exchange(over_, true)) return {};
  const std::chrono::nanoseconds took = age();
  // What a stream that has just begun will take beyond its models nobody knows, unless they have answered.
  if (waited_) add_overhead(took);
  for (auto& header : headers_) head.headers.push_back(std::move(header));
  note(reply_.streams_are_full() ? 503 : head.status, took);
  return std::move(reply_).start_stream(head);
}

}  // namespace margin::server
