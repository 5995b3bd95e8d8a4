// What the tests of this folder share: a server whose every connection follows a script, byte by byte, and an upstream on a loop of its
// own.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "http/loop.h"
#include "upstream/upstream.h"
#include "upstream/url.h"

namespace margin::upstream {

using namespace std::chrono_literals;

// Long enough for the slowest machine: a wait that ends is over much earlier.
inline constexpr auto kPatience = 30s;

// The server's side of one connection.
class Peer {
 public:
  Peer(int fd, std::size_t its_number) : number(its_number), fd_(fd) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { close(); }

  // Head and body of the next request; false when the client has gone.
  bool read_request() {
    std::size_t head_end = 0;
    while ((head_end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return false;
    }
    head = received_.substr(0, head_end + 4);
    received_.erase(0, head_end + 4);
    const std::size_t length = head.find("Content-Length: ");
    const std::size_t size = length == std::string::npos ? 0 : std::stoul(head.substr(length + 16));
    while (received_.size() < size) {
      if (!receive()) return false;
    }
    body = received_.substr(0, size);
    received_.erase(0, size);
    return true;
  }
  // From now on the bytes are encrypted; false when the client does not want to.
  bool start_tls(SSL_CTX* context) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL, also while it accepts and reads, to a client that may be gone
    tls_.reset(SSL_new(context));
    SSL_set_fd(tls_.get(), fd_);
    return SSL_accept(tls_.get()) == 1;
  }
  [[nodiscard]] bool resumed() const { return SSL_session_reused(tls_.get()) == 1; }
  [[nodiscard]] std::string server_name() const {
    const char* const name = SSL_get_servername(tls_.get(), TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? "" : name;
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = tls_ ? SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
                                : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void reply(std::string_view content, std::string_view status = "200 OK", std::string_view headers = "") {
    send("HTTP/1.1 " + std::string(status) + "\r\nContent-Type: application/json\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + std::string(content));
  }
  void start_stream(std::string_view type = "text/event-stream") {
    send("HTTP/1.1 200 OK\r\nContent-Type: " + std::string(type) + "\r\nTransfer-Encoding: chunked\r\n\r\n");
  }
  bool chunk(std::string_view bytes) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    return send(size + std::string(bytes) + "\r\n");
  }
  void end_stream() { send("0\r\n\r\n"); }
  // Waits until the client closes; false when it sends something instead.
  bool wait_closed() { return !receive() && ended_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }
  [[nodiscard]] int fd() const { return fd_; }

  const std::size_t number;  // of the connection, from 0
  std::string head;
  std::string body;

 private:
  bool receive() {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    const bool pending = tls_ && SSL_pending(tls_.get()) > 0;
    if (!pending && ::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) != 1) return false;
    char bytes[16384];
    const ssize_t count = tls_ ? SSL_read(tls_.get(), bytes, sizeof bytes) : ::recv(fd_, bytes, sizeof bytes, 0);
    if (count <= 0) {
      ended_ = true;
      return false;
    }
    received_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int fd_;
  std::unique_ptr<SSL, decltype(&SSL_free)> tls_{nullptr, SSL_free};
  bool ended_ = false;
  std::string received_;
};

// Listens on a port of its own; each connection has a thread that follows the script.
class ScriptedServer {
 public:
  using Script = std::function<void(Peer&)>;

  explicit ScriptedServer(Script script) : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 512), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this] { accept(); });
  }
  ~ScriptedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    ::close(listener_);
    {
      const std::lock_guard lock(mutex_);
      for (const Connection& connection : open_) {
        if (connection.peer.fd() >= 0) ::shutdown(connection.peer.fd(), SHUT_RDWR);
      }
    }
    for (Connection& connection : open_) connection.thread.join();
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  [[nodiscard]] std::size_t connections() const { return connections_; }

 private:
  struct Connection {
    Connection(int fd, std::size_t number) : peer(fd, number) {}
    Peer peer;
    std::thread thread;
    std::atomic<bool> ended = false;
  };

  void accept() {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const std::lock_guard lock(mutex_);
      for (auto connection = open_.begin(); connection != open_.end();) {
        if (!connection->ended) {
          ++connection;
          continue;
        }
        connection->thread.join();
        connection = open_.erase(connection);
      }
      Connection& connection = open_.emplace_back(fd, connections_++);
      connection.thread = std::thread([this, &connection] {
        script_(connection.peer);
        {
          const std::lock_guard closing(mutex_);
          connection.peer.close();
        }
        connection.ended = true;
      });
    }
  }

  Script script_;
  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> connections_ = 0;
  std::mutex mutex_;  // of the list, and of the descriptors in it being closed
  std::list<Connection> open_;
  std::thread accepting_;
};

// Answers every request of a connection alike.
inline ScriptedServer::Script always(std::string content, std::string status = "200 OK", std::string headers = "") {
  return [=](Peer& peer) {
    while (peer.read_request()) peer.reply(content, status, headers);
  };
}

// What a call has said so far.
struct Heard {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Outcome> outcome;
  std::vector<std::string> events;

  template <class Condition>
  [[nodiscard]] bool wait_for(Condition condition, std::chrono::milliseconds patience = kPatience) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, condition);
  }
};

// An upstream on a loop with its thread.
class Asker {
 public:
  explicit Asker(Settings settings, const Environment& environment = {}) {
    thread_ = std::thread([this] { loop_.run(); });
    on_loop([&] {
      Result<std::unique_ptr<Upstream>> made = Upstream::make(loop_, std::move(settings), environment, 1);
      EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
      if (made.ok()) upstream_ = std::move(*made);
    });
  }
  ~Asker() {
    on_loop([&] {
      calls_.clear();
      upstream_.reset();
    });
    loop_.stop();
    thread_.join();
  }

  // The call goes on until it ends or its number is given to cancel().
  std::pair<std::size_t, std::shared_ptr<Heard>> start(Ask ask) {
    auto heard = std::make_shared<Heard>();
    std::size_t number = 0;
    on_loop([&] {
      number = calls_.size();
      calls_.push_back(upstream_->ask(
          std::move(ask),
          [heard](Outcome outcome) {
            const std::lock_guard lock(heard->mutex);
            EXPECT_FALSE(heard->outcome) << "done twice";
            heard->outcome = std::move(outcome);
            heard->changed.notify_all();
          },
          [heard](std::string_view event) {
            const std::lock_guard lock(heard->mutex);
            heard->events.emplace_back(event);
            heard->changed.notify_all();
          }));
      EXPECT_FALSE(heard->outcome) << "done is never called from within ask()";
    });
    return {number, heard};
  }
  static Outcome outcome_of(const std::shared_ptr<Heard>& heard) {
    EXPECT_TRUE(heard->wait_for([&] { return heard->outcome.has_value(); })) << "the call never ended";
    return heard->outcome.value_or(Outcome{});
  }
  Outcome ask(Ask ask) { return outcome_of(start(std::move(ask)).second); }
  Outcome ask() { return ask(Ask{.body = R"({"model":"m"})"}); }
  void cancel(std::size_t number) {
    on_loop([&] { calls_[number].cancel(); });
  }
  Counters counters() {
    Counters copy;
    on_loop([&] { copy = upstream_->counters(); });
    return copy;
  }
  void on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  Upstream& upstream() { return *upstream_; }

 private:
  http::Loop loop_;
  std::unique_ptr<Upstream> upstream_;
  std::deque<Call> calls_;
  std::thread thread_;
};

// Quick to fail and to try again, so that tests are short.
inline Settings settings_for(const std::string& url) {
  Settings settings;
  settings.name = "model-a";
  settings.url = url;
  settings.model = "m";
  settings.key = "sk-secret-key";
  settings.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience);
  settings.backoff = 1ms;
  return settings;
}

}  // namespace margin::upstream
