// Bytes to requests: holds a connection's input and finds the requests in it, within Limits. No sockets, no time; Session feeds it.
// The grammar is Beast's, though plain requests need not pass it; what Beast leaves open (totals of a head that comes in pieces, repeated
// lengths, folded lines) is refused here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/server.h"

namespace margin::http {

// Why a request never reaches the handler.
struct Refused {
  Counters::Refusal kind = Counters::kMalformed;
  int status = 400;
  std::string code;
  std::string message;
};

class RequestReader {
 public:
  enum class Step {
    kNeedMore,  // space(), received(), then next() again
    kHead,      // the head is read and a body follows: request() without it; accept_body(), then next()
    kRequest,   // request() is complete; finish() when it is answered
    kRefused,   // refused() says why; nothing more can be read from this connection
  };

  explicit RequestReader(const Limits& limits);
  ~RequestReader();

  // Where the next bytes go. Empty only while a request is held and its buffer is full: the buffer must not move then.
  [[nodiscard]] std::span<char> space();
  void received(std::size_t bytes) { end_ += bytes; }
  [[nodiscard]] Step next();
  // After kHead: the most that this request's body may have. A stated length beyond it is refused by next().
  void accept_body(std::size_t body_bytes_max);
  // The request is answered: its views end, the next one begins.
  void finish();

  [[nodiscard]] const Request& request() const { return request_; }
  [[nodiscard]] Request& request() { return request_; }
  [[nodiscard]] const Refused& refused() const { return refused_; }
  // The client waits for "100 Continue" before it sends the body.
  [[nodiscard]] bool expects_continue() const;
  // No byte of a next request has come.
  [[nodiscard]] bool empty() const { return phase_ == Phase::kHead && begin_ == end_; }

 private:
  enum class Phase { kHead, kBetween, kBody, kHeld, kRefused };
  struct Parsing;

  Step read_head();
  Step parse_head(std::size_t head_end);
  bool take_plain_head(std::size_t head_end);
  Step read_body();
  Step refuse(Refused refused);
  Step refuse_malformed(std::string message);
  bool parse_target(std::string_view target);
  void relocate(std::size_t capacity);
  [[nodiscard]] std::string_view unread() const { return {buffer_.get() + position_, end_ - position_}; }

  const Limits& limits_;
  Phase phase_ = Phase::kHead;
  // [begin_, end_) of the buffer is in use: from begin_ the open or held request, from position_ what is not parsed yet.
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t position_ = 0;
  std::size_t end_ = 0;
  std::size_t head_end_ = 0;
  // Of an unfinished head: where the search for the next line's end goes on, where that line starts, and the lines before it.
  std::size_t scanned_ = 0;
  std::size_t line_start_ = 0;
  std::size_t lines_ = 0;

  std::unique_ptr<Parsing> parsing_;
  std::vector<Header> headers_;
  std::optional<std::size_t> whole_body_bytes_;  // of a plain request that came whole; without it Beast reads the body
  std::string body_;                             // of a request whose body did not come whole with its head
  std::size_t body_bytes_max_ = 0;
  Request request_;
  Refused refused_;
};

}  // namespace margin::http
