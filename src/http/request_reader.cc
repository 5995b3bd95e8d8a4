#include "http/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "http/plain_head.h"

namespace margin::http {
namespace beast = boost::beast;

namespace {

// Enough for most requests, so that few buffers ever grow.
constexpr std::size_t kBufferBytes = 8 << 10;
constexpr std::size_t kBodyReadBytes = 16 << 10;
// With less room than this a read would only bring a scrap.
constexpr std::size_t kReadBytesMin = 1 << 10;
// A body's storage is kept for the next request up to this size.
constexpr std::size_t kBodyKeptBytes = 16 << 10;

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Where the views of a request are collected. Beast's parser calls back with views into the reader's buffer.
struct Parts {
  Request& request;
  std::vector<Header>& headers;
  std::string& body;
};

class Parser final : public beast::http::basic_parser<true> {
 public:
  Parser(Parts parts, std::size_t header_bytes_max) : parts_(parts) {
    header_limit(static_cast<std::uint32_t>(header_bytes_max));
    body_limit(boost::none);  // accept_body() sets it
  }

  std::string_view target;
  std::string_view expect;
  std::string_view transfer_encoding;
  bool has_host = false;
  const char* fault = nullptr;  // what Beast lets pass and we do not

 private:
  using error_code = beast::error_code;

  void fail(const char* why, error_code& error) {
    fault = why;
    error = beast::http::error::bad_field;
  }

  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view whole_target, int version, error_code&) override {
    parts_.request.method = view_of(method);
    parts_.request.http_1_0 = version == 10;
    target = view_of(whole_target);
  }

  void on_field_impl(beast::http::field field, beast::string_view name, beast::string_view value, error_code& error) override {
    if (head_done_) return;  // the trailers of a chunked body say nothing we use
    const std::string_view text = view_of(value);
    switch (field) {
      case beast::http::field::host:
        if (std::exchange(has_host, true)) fail("more than one Host header", error);
        break;
      case beast::http::field::content_length:
        if (std::exchange(has_length_, true) || text.find(',') != std::string_view::npos) fail("more than one Content-Length", error);
        break;
      case beast::http::field::transfer_encoding:
        if (std::exchange(has_encoding_, true)) fail("more than one Transfer-Encoding", error);
        transfer_encoding = text;
        break;
      case beast::http::field::expect: expect = text; break;
      default: break;
    }
    parts_.headers.push_back({view_of(name), text});
  }

  void on_header_impl(error_code& error) override {
    head_done_ = true;
    if (has_encoding_ && transfer_encoding.empty()) fail("an empty Transfer-Encoding", error);
  }

  std::size_t on_body_impl(beast::string_view piece, error_code&) override {
    if (parts_.body.empty() && piece.size() == content_length_remaining()) {
      parts_.request.body = view_of(piece);  // came whole: it stays where it is
      return piece.size();
    }
    return append(piece);
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view piece, error_code&) override { return append(piece); }

  std::size_t append(beast::string_view piece) {
    parts_.body.append(piece.data(), piece.size());
    parts_.request.body = parts_.body;
    return piece.size();
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
  void on_finish_impl(error_code&) override {}
  void on_response_impl(int, beast::string_view, int, error_code&) override {}

  Parts parts_;
  bool head_done_ = false;
  bool has_length_ = false;
  bool has_encoding_ = false;
};

}  // namespace

struct RequestReader::Parsing {
  std::optional<Parser> parser;  // one per request: Beast's parsers are not made to be used again
  bool expects_continue = false;
};

RequestReader::RequestReader(const Limits& limits) : limits_(limits), parsing_(std::make_unique<Parsing>()) {}
RequestReader::~RequestReader() = default;

bool RequestReader::expects_continue() const { return parsing_->expects_continue; }

std::span<char> RequestReader::space() {
  if (phase_ == Phase::kRefused) begin_ = position_ = end_ = 0;
  if (phase_ == Phase::kHead && begin_ == end_) {
    begin_ = position_ = end_ = scanned_ = line_start_ = 0;
    if (capacity_ != kBufferBytes) relocate(kBufferBytes);
  }
  if (phase_ == Phase::kBody && position_ > head_end_) {
    std::memmove(buffer_.get() + head_end_, buffer_.get() + position_, end_ - position_);
    end_ -= position_ - head_end_;
    position_ = head_end_;
  }
  if (phase_ != Phase::kHeld && capacity_ - end_ < kReadBytesMin) {
    relocate(end_ - begin_ + (phase_ == Phase::kBody ? kBodyReadBytes : kBufferBytes));
  }
  return {buffer_.get() + end_, capacity_ - end_};
}

void RequestReader::relocate(std::size_t capacity) {
  auto fresh = std::make_unique_for_overwrite<char[]>(capacity);
  const char* const from = buffer_.get() + begin_;
  if (end_ > begin_) std::memcpy(fresh.get(), from, end_ - begin_);
  const auto move = [&](std::string_view& view) {
    // Not every view is of the buffer: the path of "http://host" is a constant.
    if (view.data() >= from && view.data() < from + (end_ - begin_)) view = {fresh.get() + (view.data() - from), view.size()};
  };
  move(request_.method);
  move(request_.path);
  move(request_.query);
  for (Header& header : headers_) {
    move(header.name);
    move(header.value);
  }
  for (std::size_t* index : {&position_, &end_, &head_end_, &scanned_, &line_start_}) *index -= std::min(*index, begin_);
  begin_ = 0;
  buffer_ = std::move(fresh);
  capacity_ = capacity;
}

RequestReader::Step RequestReader::next() {
  switch (phase_) {
    case Phase::kHead: return read_head();
    case Phase::kBody: return read_body();
    case Phase::kRefused: return Step::kRefused;
    case Phase::kBetween: return Step::kHead;
    case Phase::kHeld: break;
  }
  return Step::kRequest;
}

RequestReader::Step RequestReader::refuse(Refused refused) {
  phase_ = Phase::kRefused;
  refused_ = std::move(refused);
  return Step::kRefused;
}

RequestReader::Step RequestReader::refuse_malformed(std::string message) {
  return refuse({Counters::kMalformed, 400, "malformed_request", "malformed request: " + std::move(message)});
}

// Finds the end of the head before anything is parsed, so that the limits count whole heads however they are cut into packets.
RequestReader::Step RequestReader::read_head() {
  if (begin_ == end_) return Step::kNeedMore;
  while (true) {
    const void* const found = std::memchr(buffer_.get() + scanned_, '\n', end_ - scanned_);
    const bool complete_line = found != nullptr;
    const std::size_t line_end = complete_line ? static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.get()) + 1 : end_;
    // In the order of the bytes that break a rule, so that the answer does not depend on where packets end.
    const char first = line_start_ < end_ ? buffer_[line_start_] : '\r';
    if (lines_ == 0 && !is_letter(first) && first != '\r') {
      const bool tls_hello = first == '\x16';
      return refuse_malformed(tls_hello ? "TLS spoken to a plain HTTP port" : "it does not start with a method");
    }
    if (lines_ > 0 && line_start_ - begin_ < limits_.header_bytes_max && (first == ' ' || first == '\t'))
      return refuse_malformed("a header is folded over lines");
    if (line_end - begin_ > limits_.header_bytes_max) {
      if (lines_ == 0) {
        return refuse(
            {Counters::kTargetTooLong, 414, "target_too_long",
             "the request line is longer than the " + std::to_string(limits_.header_bytes_max) + " bytes allowed for all headers"});
      }
      return refuse({Counters::kHeaderTooLarge, 431, "headers_too_large",
                     "the headers are larger than " + std::to_string(limits_.header_bytes_max) + " bytes"});
    }
    if (complete_line && (line_end - line_start_ < 2 || buffer_[line_end - 2] != '\r')) {
      return refuse_malformed("a line does not end with carriage return and line feed");
    }
    const bool empty_line = complete_line && line_end - line_start_ == 2;
    if (empty_line && lines_ == 0) {  // before a request, as old clients send after a body
      begin_ = position_ = scanned_ = line_start_ = line_end;
      if (begin_ == end_) return Step::kNeedMore;
      continue;
    }
    scanned_ = line_end;
    if (!complete_line) return Step::kNeedMore;
    line_start_ = line_end;
    if (empty_line) return parse_head(line_end);
    if (++lines_ > limits_.header_count_max + 1) {
      return refuse({Counters::kHeaderTooLarge, 431, "too_many_headers",
                     "there are more than " + std::to_string(limits_.header_count_max) + " headers"});
    }
  }
}

// A plain request that is here whole: all but a few are.
bool RequestReader::take_plain_head(std::size_t head_end) {
  const std::optional<PlainHead> plain = read_plain_head({buffer_.get() + begin_, head_end - begin_}, headers_);
  if (!plain || plain->body_bytes > end_ - head_end || plain->target.size() > limits_.target_bytes_max) return false;
  if (!parse_target(plain->target)) return false;
  request_.method = plain->method;
  whole_body_bytes_ = plain->body_bytes;
  return true;
}

RequestReader::Step RequestReader::parse_head(std::size_t head_end) {
  parsing_->expects_continue = false;
  if (take_plain_head(head_end)) {
    position_ = head_end_ = head_end;
    request_.headers = headers_;
    phase_ = *whole_body_bytes_ == 0 ? Phase::kHeld : Phase::kBetween;
    return *whole_body_bytes_ == 0 ? Step::kRequest : Step::kHead;
  }
  headers_.clear();
  Parser& parser = parsing_->parser.emplace(Parts{request_, headers_, body_}, limits_.header_bytes_max);
  beast::error_code error;
  const std::size_t parsed = parser.put(boost::asio::const_buffer(buffer_.get() + begin_, head_end - begin_), error);
  if (error == beast::http::error::bad_version) {
    return refuse({Counters::kUnsupported, 505, "unsupported_version", "only HTTP/1.1 and HTTP/1.0 are spoken here"});
  }
  if (error) return refuse_malformed(parser.fault != nullptr ? parser.fault : error.message());
  MARGIN_CHECK(parser.is_header_done() && parsed == head_end - begin_, "a head that ends with an empty line is parsed whole");
  position_ = head_end_ = head_end;

  if (parser.target.size() > limits_.target_bytes_max) {
    return refuse({Counters::kTargetTooLong, 414, "target_too_long",
                   "path and query are longer than " + std::to_string(limits_.target_bytes_max) + " bytes"});
  }
  if (!parse_target(parser.target)) return refuse_malformed("the target is neither a path nor an absolute URL");
  if (!parser.has_host && !request_.http_1_0) return refuse_malformed("the Host header is missing");
  if (!parser.transfer_encoding.empty()) {
    if (request_.http_1_0) return refuse_malformed("Transfer-Encoding in an HTTP/1.0 request");
    if (!same_name(parser.transfer_encoding, "chunked")) {
      return refuse({Counters::kUnsupported, 501, "unsupported_transfer_encoding", "the only Transfer-Encoding understood is chunked"});
    }
  }
  if (!parser.expect.empty() && !request_.http_1_0) {
    if (!same_name(parser.expect, "100-continue")) {
      return refuse({Counters::kUnsupported, 417, "unsupported_expectation", "the only Expect understood is 100-continue"});
    }
    parsing_->expects_continue = true;
  }
  request_.headers = headers_;
  request_.keep_alive = parser.keep_alive();
  if (parser.is_done()) {
    phase_ = Phase::kHeld;
    return Step::kRequest;
  }
  phase_ = Phase::kBetween;
  return Step::kHead;
}

bool RequestReader::parse_target(std::string_view target) {
  if (target.find('#') != std::string_view::npos) return false;
  if (!target.starts_with('/') && target != "*") {
    const std::size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return false;
    target.remove_prefix(std::min(target.find_first_of("/?", scheme + 3), target.size()));
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  request_.path = target.substr(0, question);
  request_.query = target.substr(std::min(question + 1, target.size()));
  if (request_.path.empty()) request_.path = "/";
  return true;
}

void RequestReader::accept_body(std::size_t body_bytes_max) {
  phase_ = Phase::kBody;
  body_bytes_max_ = body_bytes_max;
  std::optional<std::uint64_t> stated = whole_body_bytes_;
  if (!stated) {
    Parser& parser = *parsing_->parser;
    parser.body_limit(body_bytes_max);
    if (const auto length = parser.content_length()) stated = *length;
  }
  if (stated && *stated > body_bytes_max) {
    refuse({Counters::kBodyTooLarge, 413, "body_too_large",
            "the body has " + std::to_string(*stated) + " bytes, allowed are " + std::to_string(body_bytes_max)});
  }
}

namespace {

// The header of the last chunk without its end. It needs more in any case, and Beast asserts, when it looks at one again, that the end is
// there.
bool cut_last_chunk(std::string_view unread) {
  return unread.size() < std::string_view("0\r\n\r\n").size() && unread.starts_with('0') && unread.find('\n') != std::string_view::npos;
}

// The whole header of a chunk that is not the last, behind the end of the chunk before. Where Beast wants more of it, a quotation has no
// end in it; asked again it would count the chunk's bytes again.
bool is_chunk_header(std::string_view unread) {
  if (unread.starts_with("\r\n")) unread.remove_prefix(2);
  const std::size_t digit = std::min(unread.find_first_not_of('0'), unread.size());
  return unread.substr(digit).find_first_of("123456789abcdefABCDEF") == 0 && unread.find("\r\n") != std::string_view::npos;
}

}  // namespace

RequestReader::Step RequestReader::read_body() {
  if (whole_body_bytes_) {
    request_.body = unread().substr(0, *whole_body_bytes_);
    position_ += *whole_body_bytes_;
    phase_ = Phase::kHeld;
    return Step::kRequest;
  }
  Parser& parser = *parsing_->parser;
  while (!parser.is_done()) {
    if (position_ == end_ || (parser.chunked() && cut_last_chunk(unread()))) return Step::kNeedMore;
    beast::error_code error;
    // One put parses one piece of the body, or one chunk's header with the trailers that may follow the last.
    const std::size_t body_bytes = request_.body.size();
    const std::size_t parsed = parser.put(boost::asio::const_buffer(unread().data(), unread().size()), error);
    const bool incomplete = error == beast::http::error::need_more;
    const std::size_t framing_bytes = incomplete ? unread().size() : parsed - (request_.body.size() - body_bytes);
    position_ += parsed;
    if (framing_bytes > limits_.header_bytes_max) {
      return refuse({Counters::kHeaderTooLarge, 431, "headers_too_large",
                     "a chunk's header or trailer is larger than " + std::to_string(limits_.header_bytes_max) + " bytes"});
    }
    if (incomplete && parser.chunked() && is_chunk_header(unread())) return refuse_malformed("a quotation in a chunk's header has no end");
    if (incomplete) return Step::kNeedMore;
    if (error == beast::http::error::body_limit) {
      return refuse({Counters::kBodyTooLarge, 413, "body_too_large",
                     "the chunked body has more than the allowed " + std::to_string(body_bytes_max_) + " bytes"});
    }
    if (error) return refuse_malformed(error.message());
  }
  phase_ = Phase::kHeld;
  return Step::kRequest;
}

void RequestReader::finish() {
  begin_ = scanned_ = line_start_ = position_;
  lines_ = 0;
  phase_ = Phase::kHead;
  headers_.clear();
  whole_body_bytes_.reset();
  body_.clear();
  if (body_.capacity() > kBodyKeptBytes) body_.shrink_to_fit();
  // The next comes from the same peer.
  request_.method = request_.path = request_.query = request_.body = {};
  request_.headers = {};
  request_.keep_alive = true;
  request_.http_1_0 = false;
}

}  // namespace margin::http
