// One connection to an upstream: resolved, connected, tunnelled through a proxy and encrypted as its route says, then bytes in and out.
// Used by Exchange and by Origin, which keeps the idle ones. Free of Asio, so that they compile fast.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/loop.h"
#include "margin/result.h"
#include "upstream/upstream.h"
#include "upstream/url.h"

namespace margin::upstream {

// The trust of one upstream and its sessions, for all of its connections.
class Tls;
// `ca_file` empty: the system's certificates. kNotFound: it cannot be read; kCorrupt: it holds no PEM certificate.
[[nodiscard]] Result<std::shared_ptr<Tls>> make_tls(const std::string& ca_file);

struct Route {
  Url url;
  std::optional<Proxy> proxy;
  std::shared_ptr<Tls> tls;  // null: plain
  std::chrono::milliseconds connect_timeout{5'000};
};

class Connection {
 public:
  // Why a connection is gone. No failure: the other side ended it in order.
  struct Closed {
    std::optional<Failure> failure;
    std::string why;
  };

  // Called from the loop, never from within a call to the connection. Each may close the connection or give it another listener.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_open(Connection& connection) = 0;
    // `bytes` are valid during the call.
    virtual void on_bytes(Connection& connection, std::string_view bytes) = 0;
    // The last call.
    virtual void on_closed(Connection& connection, const Closed& closed) = 0;
  };

  virtual ~Connection() = default;
  // Shared, because the connection may be the last to hold whoever listens while it calls.
  virtual void set_listener(std::shared_ptr<Listener> listener) = 0;
  // Only when nothing is being written. An error shows as the connection's end.
  virtual void write(std::string head, std::shared_ptr<const std::string> body) = 0;
  [[nodiscard]] virtual bool writing() const = 0;
  // At once; the listener hears nothing more and is let go.
  virtual void close() = 0;
};

[[nodiscard]] std::shared_ptr<Connection> connect(http::Loop& loop, const Route& route, std::shared_ptr<Connection::Listener> listener);

}  // namespace margin::upstream
