// One connection: reads requests, gives them to the handler one after the other, writes the answers in that order, keeps the
// deadlines. Owned by the operations that are pending on its socket, by the Reply or Stream of its request, and by Host's list.
#pragma once

#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/output.h"
#include "http/request_reader.h"
#include "http/server.h"
#include "http/transport.h"

namespace margin::http {

using Moment = std::chrono::steady_clock::time_point;

// What the sessions of a server share; the server's side of them.
struct Host {
  Host(Loop& event_loop, const Limits& all_limits, Handler& request_handler)
      : loop(event_loop), limits(all_limits), handler(request_handler) {}

  Loop& loop;
  Limits limits;
  Handler& handler;
  Counters counters;
  bool draining = false;
  std::string date;       // the Date header's value
  std::string json_head;  // how the head of most answers begins: 200, date, JSON
  std::vector<std::shared_ptr<Session>> sessions;
  std::function<void()> on_session_closed;
  // Who has answers, made in this turn of the loop, that are still to leave, but for the first `sent`; and may have more to serve.
  std::vector<std::shared_ptr<Session>> leaving;
  std::size_t sent = 0;
  bool going_on = false;
  TurnEnd turn_end{loop, [this] { go_on(); }};

  void add(std::shared_ptr<Session> session);
  void remove(Session& session);
  // The session goes on at the end of the turn: answers that leave one right after the other cost less than each by itself, because the
  // processor has the kernel's way of sending at hand. Never at once, beyond sending: whoever answers is in the midst of something, where
  // the handler of a next request must not be called.
  void go_on_later(std::shared_ptr<Session> session);
  void go_on();
  // Once in a while, by the server.
  void set_date(std::string now);
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Host& host, std::unique_ptr<Transport> transport, std::string peer, bool peer_is_loopback);

  void start();
  // Instead of start(): there are too many connections; says so and closes.
  void turn_away();

  // What comes is to be put here. By the time it comes the request before it may have been answered, and its place is used again: bytes
  // that the processor has at hand.
  [[nodiscard]] std::span<char> space() { return reader_.space(); }
  // The transport's callbacks.
  void on_handshake(const boost::system::error_code& error);
  void on_read(const boost::system::error_code& error, std::size_t bytes);
  void on_written(const boost::system::error_code& error, std::size_t bytes);

  // The Reply's and the Stream's side.
  void reply(Response&& response);
  void forget_reply();
  [[nodiscard]] bool streams_are_full() const { return host_.counters.streams_open >= host_.limits.streams_max; }
  [[nodiscard]] Stream start_stream(const Response& head);
  [[nodiscard]] bool stream_open() const { return state_ == State::kStreaming; }
  bool stream_write(std::string_view bytes);
  void stream_end();
  [[nodiscard]] std::size_t backlog() const { return queued_->size() + active_->size() - written_; }
  void on_disconnect(std::function<void()> gone) { gone_ = std::move(gone); }

  // The server's side.
  void check_deadline(Moment now);
  void drain();
  void abort();
  // Sends what waits. Calls nobody.
  void flush();
  // Sends what waits and serves what has come since.
  void go_on();
  std::size_t index = 0;  // in Host::sessions

 private:
  enum class State { kHandshake, kIdle, kHead, kBody, kHandling, kStreaming, kClosing, kLingering, kClosed };

  enum class Framing { kLength, kChunks, kNone };

  // Bytes on their way out: answers one after the other, then perhaps one large body, sent from where the handler made it.
  struct Outgoing {
    Output bytes;
    std::string body;
    [[nodiscard]] std::size_t size() const { return bytes.size() + body.size(); }
  };

  void process();
  // False when there is nothing to serve until more bytes come.
  bool serve_next();
  void dispatch();
  void refuse(const Refused& refused);
  void finish_request();
  void append_answer(Response&& response);
  void append_head(const Response& response, Framing framing);
  void read();
  void write_active();
  void linger();
  void notify_gone();
  void set_state(State state, std::chrono::milliseconds patience);
  void set_state(State state);
  [[nodiscard]] bool parsing() const { return state_ == State::kIdle || state_ == State::kHead || state_ == State::kBody; }
  [[nodiscard]] bool room() const;

  Host& host_;
  std::unique_ptr<Transport> transport_;
  RequestReader reader_;
  const std::string peer_;

  State state_ = State::kHandshake;
  std::chrono::milliseconds patience_ = std::chrono::milliseconds::max();  // with the client in this state
  Moment deadline_ = Moment::max();                                        // counted from the first look at the state
  Moment write_deadline_ = Moment::max();
  bool reading_ = false;
  bool processing_ = false;
  bool read_ended_ = false;   // the client closed its sending side
  bool continued_ = false;    // 100 Continue was sent for this request
  bool close_after_ = false;  // the answer now in work is the last
  bool chunked_ = false;      // of the stream
  std::uint64_t requests_ = 0;
  std::size_t lingered_bytes_ = 0;

  Outgoing outgoing_[2];
  Outgoing* queued_ = &outgoing_[0];
  Outgoing* active_ = &outgoing_[1];  // being written, written_ bytes of it are gone; empty when no write is in progress
  std::size_t written_ = 0;
  std::function<void()> gone_;
};

}  // namespace margin::http
