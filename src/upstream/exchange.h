// Origin: where requests go, with its idle connections. Exchange: one request and its reply on one of them. Used by Upstream.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/loop.h"
#include "upstream/connection.h"
#include "upstream/reply_reader.h"

namespace margin::upstream {

class Origin final : public Connection::Listener, public std::enable_shared_from_this<Origin> {
 public:
  Origin(http::Loop& loop, Route route, std::size_t idle_max) : loop_(loop), route_(std::move(route)), idle_max_(idle_max) {}

  // The idle connection that was used last; null when there is none.
  [[nodiscard]] std::shared_ptr<Connection> take();
  [[nodiscard]] std::shared_ptr<Connection> connect(std::shared_ptr<Connection::Listener> listener);
  // A connection whose reply is complete. The oldest is closed when there are too many.
  void give_back(std::shared_ptr<Connection> connection);
  // Closes what is idle, now and from now on.
  void retire();

  [[nodiscard]] std::size_t idle() const { return idle_.size(); }
  [[nodiscard]] std::uint64_t connects() const { return connects_; }

 private:
  struct Idle {
    std::shared_ptr<Connection> connection;
    std::chrono::steady_clock::time_point since;
  };

  void on_open(Connection&) override {}
  void on_bytes(Connection& connection, std::string_view) override { forget(connection); }  // nobody asked for them
  void on_closed(Connection& connection, const Connection::Closed&) override { forget(connection); }
  void forget(Connection& connection);
  void close_expired();

  http::Loop& loop_;
  const Route route_;
  const std::size_t idle_max_;
  std::vector<Idle> idle_;  // the longest idle first
  http::Timer expiry_;
  bool watching_ = false;
  bool retired_ = false;
  std::uint64_t connects_ = 0;
};

class Exchange final : public Connection::Listener {
 public:
  struct End {
    std::optional<Failure> failure;  // kConnect, kTls, kCut, kMalformed, kTooLarge
    std::string why;
    bool began = false;   // a byte of the reply had come
    bool framed = false;  // the reply itself says where it ends
  };

  // Whoever asked. The exchange is a part of it; each of these may cancel it.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_head(const ReplyHead& head) = 0;
    virtual void on_body(std::string_view piece) = 0;
    // Once, the last call.
    virtual void on_end(End end) = 0;
  };

  Exchange(Owner& owner, std::shared_ptr<Origin> origin, std::size_t reply_bytes_max)
      : owner_(owner), origin_(std::move(origin)), reader_(reply_bytes_max) {}

  // `self`: this exchange, shared with its owner. An idle connection that turns out to be closed before a byte of the reply came is
  // replaced once by a new one: the upstream closed it before it saw the request.
  void start(std::shared_ptr<Exchange> self, std::string head, std::shared_ptr<const std::string> body);
  // Closes the connection; the owner hears nothing more.
  void cancel();

 private:
  void on_open(Connection& connection) override;
  void on_bytes(Connection& connection, std::string_view bytes) override;
  void on_closed(Connection& connection, const Connection::Closed& closed) override;
  void read_on();
  void finish(End end);

  Owner& owner_;
  std::weak_ptr<Exchange> self_;
  const std::shared_ptr<Origin> origin_;
  ReplyReader reader_;
  std::shared_ptr<Connection> connection_;  // null: not under way
  std::string head_;                        // kept while the request may have to be sent again
  std::shared_ptr<const std::string> body_;
  bool reused_ = false;
};

}  // namespace margin::upstream
