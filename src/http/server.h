// An HTTP/1.1 server on one thread: Server listens, reads requests within Limits and gives each to a Handler with the Reply to answer
// it by. Knows no MARGIN type. Everything here is used on the loop's thread only.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/loop.h"
#include "http/message.h"
#include "margin/result.h"

namespace margin::http {

class Session;

// Each is the largest that is still accepted.
struct Limits {
  std::size_t target_bytes_max = 8 << 10;                 // path and query; beyond: 414
  std::size_t header_bytes_max = 16 << 10;                // request line and headers; beyond: 431
  std::size_t header_count_max = 64;                      // beyond: 431
  std::size_t body_bytes_max = 1 << 20;                   // decoded; beyond: 413
  std::size_t connections_max = 1024;                     // beyond: 503 and closed
  std::size_t streams_max = 64;                           // beyond: 503
  std::size_t stream_buffer_bytes_max = 256 << 10;        // a stream's reader that lags further behind is disconnected
  std::uint64_t requests_per_connection_max = 1'000'000;  // the last one is answered with Connection: close
  std::chrono::milliseconds idle_timeout{75'000};         // between requests: closed
  std::chrono::milliseconds header_timeout{10'000};       // first to last byte of the head: 408
  std::chrono::milliseconds body_timeout{30'000};         // first to last byte of the body: 408
  std::chrono::milliseconds write_timeout{30'000};        // without the client taking a byte: closed
};

// What went on, for metrics. Sums since the start, but for the *_open ones.
struct Counters {
  enum Refusal { kMalformed, kTargetTooLong, kHeaderTooLarge, kBodyTooLarge, kUnsupported, kTooSlow, kCut, kRefusals };
  static constexpr std::array<std::string_view, kRefusals> kRefusalNames = {
      "malformed", "target_too_long", "header_too_large", "body_too_large", "unsupported", "too_slow", "cut"};

  std::uint64_t connections_open = 0;
  std::uint64_t streams_open = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;  // beyond connections_max
  std::uint64_t accept_failures = 0;      // the system had no descriptor or memory; tried again
  std::uint64_t tls_failures = 0;
  std::uint64_t requests = 0;
  std::uint64_t replies_forgotten = 0;  // a handler failed to answer: 500
  std::uint64_t streams_refused = 0;    // beyond streams_max
  std::uint64_t slow_readers = 0;       // disconnected: stream buffer full, or no byte taken for write_timeout
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::array<std::uint64_t, kRefusals> refused{};  // requests that never reached the handler

  // Of several servers together.
  Counters& operator+=(const Counters& other);
};

// An answer that has no end yet: server-sent events or any chunked body. Move-only. Destroyed without close(), the connection is cut,
// so that the client can tell a broken answer from a complete one.
class Stream {
 public:
  Stream() = default;
  Stream(Stream&&) noexcept = default;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // False when it never opened (too many streams; the client got a 503), was closed, or the client went away.
  [[nodiscard]] bool open() const;
  // Sends soon and never blocks. False when the stream is not open, or when the client lags more than stream_buffer_bytes_max behind
  // and is now disconnected.
  bool write(std::string_view bytes);
  // Bytes the client has not taken yet.
  [[nodiscard]] std::size_t backlog() const;
  // The complete end: the client may send its next request.
  void close();
  // Called once if the client goes away or is disconnected before close(), from the loop, never from within write().
  void on_disconnect(std::function<void()> gone);

 private:
  friend class Session;
  explicit Stream(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  std::shared_ptr<Session> session_;  // shared with the server and the socket's pending operations
};

// The right and duty to answer one request, once, now or later. Move-only. Destroyed unsent: the client gets a 500.
class Reply {
 public:
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&&) noexcept;
  ~Reply();

  // The request's views end here.
  void send(Response&& response) &&;
  // Whether there are as many streams as may be: one more is answered with 503.
  [[nodiscard]] bool streams_are_full() const;
  // Sends the head and its body, and goes on as a stream. To a HEAD request the answer ends there: the stream is not open.
  [[nodiscard]] Stream start_stream(const Response& head) &&;
  // Called once if the client goes away before the reply was sent. A client that only closed its sending side may still read it.
  void on_disconnect(std::function<void()> gone);

 private:
  friend class Session;
  explicit Reply(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  std::shared_ptr<Session> session_;  // shared with the server and the socket's pending operations
};

class Handler {
 public:
  virtual ~Handler() = default;
  // `request` stays valid as long as `reply` is neither sent nor destroyed.
  virtual void handle(const Request& request, Reply reply) = 0;
  // The largest body this request may have, asked when its head is read; `standard` is Limits::body_bytes_max.
  [[nodiscard]] virtual std::size_t body_bytes_max(const Request& head, std::size_t standard) const;
};

struct ListenOptions {
  std::string address = "127.0.0.1";  // an IP address or "localhost"
  std::uint16_t port = 0;             // 0: any free one, told by Server::port()
  std::string certificate_file;       // PEM, with its chain; TLS when set
  std::string key_file;               // PEM
};

// Whether a server that listens so would find its certificate and key. Errors as for Server::start().
[[nodiscard]] Status check_certificates(const ListenOptions& options);

class Server {
 public:
  // `handler` outlives the server, and so does `loop`.
  Server(Loop& loop, ListenOptions options, Limits limits, Handler& handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Errors: kInvalidArgument (no such address, no right to it), kConflict (address in use), kNotFound (certificate or key unreadable),
  // kCorrupt (certificate or key malformed, or not of one another), kUnavailable (no descriptor left).
  Status start();
  [[nodiscard]] std::uint16_t port() const;
  // "127.0.0.1:8080", "[::1]:8080": as it was told, with the port it has.
  [[nodiscard]] std::string address() const;
  [[nodiscard]] bool tls() const;
  // New connections get the certificate that the files hold now. After an error the old one stays. Errors as for start().
  Status reload_certificates();
  // From now on, for open connections too. Deadlines that run already stay as they are, and connections beyond a smaller number stay open.
  void set_limits(const Limits& limits);

  // Stops accepting, lets requests in flight end (their answers say Connection: close) and closes idle connections; what is left after
  // `patience` is cut. Streams count as in flight: their handler closes them. Then `done` is called, once.
  void drain(std::chrono::milliseconds patience, std::function<void()> done);

  [[nodiscard]] const Counters& counters() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with the pending accept
};

}  // namespace margin::http
