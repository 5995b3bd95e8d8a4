#include "upstream/reply_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>
#include <utility>

#include "http/message.h"

namespace margin::upstream {
namespace beast = boost::beast;

namespace {

constexpr std::size_t kHeadBytesMax = 64 << 10;
// The shortest end of a chunked body, "0\r\n\r\n"; every other chunk header has at least as many bytes behind it. Beast asserts, when it
// looks at a last chunk a second time, that they are there.
constexpr std::size_t kChunkHeaderBytesMin = 5;

class Parser final : public beast::http::basic_parser<false> {
 public:
  explicit Parser(ReplyHead& head) : head_(head) {
    header_limit(kHeadBytesMax);
    body_limit(boost::none);  // counted by the reader, the same for every framing
  }

  std::string_view piece;
  std::uint64_t chunk_left = 0;
  bool foreign_encoding = false;

 private:
  using error_code = beast::error_code;

  void on_response_impl(int status, beast::string_view, int, error_code&) override { head_.status = status; }

  void on_field_impl(beast::http::field field, beast::string_view name, beast::string_view value, error_code&) override {
    if (is_header_done()) return;  // trailers say nothing we use
    const std::string_view text(value.data(), value.size());
    switch (field) {
      case beast::http::field::content_type: head_.content_type = text; break;
      case beast::http::field::content_encoding: head_.content_encoding = text; break;
      case beast::http::field::location: head_.location = text; break;
      case beast::http::field::retry_after: head_.retry_after = text; break;
      case beast::http::field::transfer_encoding: foreign_encoding = !http::same_name(text, "chunked"); break;
      case beast::http::field::unknown:
        if (http::same_name({name.data(), name.size()}, "retry-after-ms")) head_.retry_after_ms = text;
        if (http::same_name({name.data(), name.size()}, "x-should-retry")) head_.should_retry = text;
        break;
      default: break;
    }
  }

  std::size_t on_body_impl(beast::string_view bytes, error_code&) override {
    piece = {bytes.data(), bytes.size()};
    return bytes.size();
  }
  std::size_t on_chunk_body_impl(std::uint64_t left, beast::string_view bytes, error_code&) override {
    piece = {bytes.data(), bytes.size()};
    chunk_left = left - bytes.size();
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t size, beast::string_view, error_code&) override { chunk_left = size; }

  void on_request_impl(beast::http::verb, beast::string_view, beast::string_view, int, error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  void on_finish_impl(error_code&) override {}

  ReplyHead& head_;
};

}  // namespace

struct ReplyReader::Parsing {
  std::optional<Parser> parser;  // one per reply: Beast's parsers are not made to be used again
  std::size_t body_bytes = 0;
  bool head_given = false;
};

ReplyReader::ReplyReader(std::size_t body_bytes_max) : body_bytes_max_(body_bytes_max), parsing_(std::make_unique<Parsing>()) {}
ReplyReader::~ReplyReader() = default;

void ReplyReader::start(bool bodiless) {
  bodiless_ = bodiless;
  held_.clear();
  unread_ = {};
  head_bytes_ = 0;
  began_ = ended_ = ended_properly_ = false;
  parsing_->body_bytes = 0;
  parsing_->head_given = false;
  restart();
}

void ReplyReader::restart() {
  head_ = {};
  parsing_->parser.emplace(head_);
  parsing_->parser->skip(bodiless_);
}

void ReplyReader::feed(std::string_view bytes) {
  began_ = began_ || !bytes.empty();
  if (held_.empty()) {
    unread_ = bytes;
    return;
  }
  held_ += bytes;
  unread_ = held_;
}

void ReplyReader::end(bool properly) {
  ended_ = true;
  ended_properly_ = properly;
}

void ReplyReader::keep_unread() {
  if (unread_.empty()) {
    held_.clear();
  } else if (held_.empty()) {
    held_ = unread_;
  } else {
    held_.erase(0, held_.size() - unread_.size());
  }
  unread_ = held_;
}

bool ReplyReader::framed() const { return !parsing_->parser->need_eof(); }

bool ReplyReader::reusable() const { return parsing_->parser->is_done() && parsing_->parser->keep_alive() && unread_.empty() && !ended_; }

ReplyReader::Step ReplyReader::stop(Step step, std::string why) {
  why_ = std::move(why);
  return step;
}

ReplyReader::Step ReplyReader::ended() {
  Parser& parser = *parsing_->parser;
  if (began_ && ended_properly_ && unread_.empty() && parser.is_header_done() && parser.need_eof()) {
    beast::error_code ignored;
    parser.put_eof(ignored);
    return Step::kDone;
  }
  return stop(Step::kCut, began_ ? "the connection ended in the middle of the reply" : "the connection ended before a reply began");
}

// The head is complete.
ReplyReader::Step ReplyReader::after_head() {
  Parser& parser = *parsing_->parser;
  if (head_.status == 101) return stop(Step::kWrong, "it switches protocols, which nobody asked for");
  if (parser.foreign_encoding) return stop(Step::kWrong, "its Transfer-Encoding is not chunked");
  if (!head_.content_encoding.empty() && !http::same_name(head_.content_encoding, "identity")) {
    return stop(Step::kWrong, "it is compressed, which nobody asked for");
  }
  const auto length = parser.content_length();
  if (!bodiless_ && length && *length > body_bytes_max_) {
    return stop(Step::kTooLarge, "its body has " + std::to_string(*length) + " bytes, allowed are " + std::to_string(body_bytes_max_));
  }
  parsing_->head_given = true;
  return Step::kHead;
}

ReplyReader::Step ReplyReader::next() {
  while (true) {
    Parser& parser = *parsing_->parser;
    if (parser.is_header_done() && !parsing_->head_given) {
      if (head_.status / 100 != 1 || head_.status == 101) return after_head();
      restart();  // an interim reply; its bytes stay counted
      continue;
    }
    if (parser.is_done()) return Step::kDone;
    const bool short_of_chunk_header =
        parser.is_header_done() && parser.chunked() && parser.chunk_left == 0 && unread_.size() < kChunkHeaderBytesMin;
    if (unread_.empty() || short_of_chunk_header) {
      keep_unread();
      return ended_ ? ended() : Step::kNeedMore;
    }
    parser.piece = {};
    beast::error_code error;
    const bool in_head = !parser.is_header_done();
    const std::size_t parsed = parser.put(boost::asio::const_buffer(unread_.data(), unread_.size()), error);
    unread_.remove_prefix(parsed);
    if (in_head) head_bytes_ += parsed;
    const bool incomplete = error == beast::http::error::need_more;
    if (error == beast::http::error::header_limit || head_bytes_ > kHeadBytesMax || (incomplete && unread_.size() > kHeadBytesMax)) {
      return stop(Step::kTooLarge, "its headers have more than " + std::to_string(kHeadBytesMax) + " bytes");
    }
    if (error && !incomplete) return stop(Step::kWrong, "it is not HTTP: " + error.message());
    if (!parser.piece.empty()) {
      piece_ = parser.piece;
      parsing_->body_bytes += piece_.size();
      if (parsing_->body_bytes > body_bytes_max_) {
        return stop(Step::kTooLarge, "its body has more than the allowed " + std::to_string(body_bytes_max_) + " bytes");
      }
      return Step::kBody;
    }
    if (incomplete) {
      keep_unread();
      return ended_ ? ended() : Step::kNeedMore;
    }
  }
}

}  // namespace margin::upstream
