// Bytes to an HTTP reply, in pieces as they come. No sockets, no time; Exchange and the proxy's tunnel feed it.
// The grammar is Beast's; what Beast leaves open (totals of a head, encodings nobody asked for) is refused here.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace margin::upstream {

// What callers use of a reply's head.
struct ReplyHead {
  int status = 0;
  std::string content_type;
  std::string content_encoding;
  std::string location;
  std::string retry_after;
  std::string retry_after_ms;
  std::string should_retry;  // x-should-retry
};

class ReplyReader {
 public:
  enum class Step {
    kNeedMore,  // feed() or end(), then next() again
    kHead,      // head() is complete; replies 1xx are passed over
    kBody,      // piece() is the next part of the body
    kDone,      // the reply is complete
    kTooLarge,  // beyond a limit; why()
    kWrong,     // no HTTP reply; why()
    kCut,       // the connection ended within the reply; why()
  };

  explicit ReplyReader(std::size_t body_bytes_max);
  ~ReplyReader();

  // Before each reply. `bodiless`: the answer to CONNECT has no body whatever it says.
  void start(bool bodiless = false);
  // `bytes` stay valid until the next call of feed().
  void feed(std::string_view bytes);
  // The connection has ended; `properly`: as the other side wanted it.
  void end(bool properly);
  [[nodiscard]] Step next();

  [[nodiscard]] const ReplyHead& head() const { return head_; }
  [[nodiscard]] std::string_view piece() const { return piece_; }
  [[nodiscard]] const std::string& why() const { return why_; }
  // A byte of the reply has come.
  [[nodiscard]] bool began() const { return began_; }
  // After kDone: the connection may carry another request.
  [[nodiscard]] bool reusable() const;
  // The head says where the body ends: by a length or by chunks, not only by the connection's end.
  [[nodiscard]] bool framed() const;

 private:
  struct Parsing;

  Step stop(Step step, std::string why);
  void restart();
  Step after_head();
  Step ended();
  void keep_unread();

  const std::size_t body_bytes_max_;
  std::unique_ptr<Parsing> parsing_;
  ReplyHead head_;
  std::string held_;         // what was not parsed of earlier bytes
  std::string_view unread_;  // of held_ or of the bytes just fed
  std::string_view piece_;
  std::string why_;
  std::size_t head_bytes_ = 0;
  bool began_ = false;
  bool bodiless_ = false;
  bool ended_ = false;
  bool ended_properly_ = false;
};

}  // namespace margin::upstream
