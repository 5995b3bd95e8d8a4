// What the tests of this folder share: a server on a thread of its own, and a client that sends exactly the bytes it is told.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "http/server.h"

namespace margin::http {

// Long enough for the slowest machine: a wait that ends is over much earlier.
inline constexpr int kPatienceMs = 30'000;

class TestServer final : public Handler {
 public:
  using Handle = std::function<void(const Request&, Reply)>;

  explicit TestServer(Handle handle, Limits limits = {}, ListenOptions options = {}) : handle_(std::move(handle)) {
    server_.emplace(loop_, std::move(options), limits, *this);
    const Status started = server_->start();
    EXPECT_TRUE(started.ok()) << (started.ok() ? "" : started.error().message);
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~TestServer() override {
    on_loop([this] {
      handle_ = nullptr;  // with the replies and streams it holds
      server_.reset();
    });
    loop_.stop();
    thread_.join();
  }

  void handle(const Request& request, Reply reply) override { handle_(request, std::move(reply)); }
  std::size_t body_bytes_max(const Request& head, std::size_t standard) const override {
    return head.path == "/large" ? 2 * standard : standard;
  }

  // Runs `work` on the loop's thread and waits for it.
  void on_loop(const std::function<void()>& work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  Counters counters() {
    Counters copy;
    on_loop([&] { copy = server_->counters(); });
    return copy;
  }
  // Waits until the counters say so.
  bool eventually(const std::function<bool(const Counters&)>& true_of) {
    for (int waited_ms = 0; waited_ms < kPatienceMs; waited_ms += 2) {
      if (true_of(counters())) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

  Loop& loop() { return loop_; }
  Server& server() { return *server_; }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

 private:
  Loop loop_;
  Handle handle_;
  std::optional<Server> server_;
  std::thread thread_;
};

inline Response text(std::string body, int status = 200) {
  Response response;
  response.status = status;
  response.content_type = "text/plain";
  response.body = std::move(body);
  return response;
}

// Answers with "METHOD PATH BODY".
inline void echo(const Request& request, Reply reply) {
  std::move(reply).send(text(std::string(request.method) + " " + std::string(request.path) + " " + std::string(request.body)));
}

struct Answer {
  int status = 0;                              // 0: the connection ended first
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  bool chunked = false;
};

class Client {
 public:
  explicit Client(std::uint16_t port, int receive_buffer_bytes = 0) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer_bytes > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    EXPECT_TRUE(connected_) << std::strerror(errno);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(); }

  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }
  void end_sending() { ::shutdown(fd_, SHUT_WR); }

  // False when the server no longer takes bytes.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // A byte beside the others, which are read as if it were not there.
  bool send_urgent() { return ::send(fd_, "!", 1, MSG_OOB | MSG_NOSIGNAL) == 1; }
  // Something of the server's has come that was not read yet.
  [[nodiscard]] bool has_something() const {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, 0) == 1;
  }
  void get(std::string_view path) { send("GET " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n\r\n"); }

  // Reads one answer; `bodiless` for the answer to HEAD.
  Answer answer(bool bodiless = false) {
    Answer answer;
    std::string line;
    if (!read_line(line)) return answer;
    const int status = std::stoi(line.substr(std::min<std::size_t>(line.size(), 9)));
    while (read_line(line) && !line.empty()) {
      const std::size_t colon = line.find(": ");
      EXPECT_NE(colon, std::string::npos) << line;
      std::string name = line.substr(0, colon);
      for (char& c : name) c = static_cast<char>(std::tolower(c));
      answer.headers[name] = line.substr(colon + 2);
    }
    if (status == 100 || bodiless) {
      answer.status = status;
      return answer;
    }
    if (answer.headers.contains("content-length")) {
      if (!read_bytes(answer.body, std::stoul(answer.headers["content-length"]))) return answer;
    } else if (answer.headers.contains("transfer-encoding")) {
      answer.chunked = true;
      while (true) {
        const std::optional<std::string> chunk = read_chunk();
        if (!chunk) return answer;
        if (chunk->empty()) break;
        answer.body += *chunk;
      }
    }
    answer.status = status;
    return answer;
  }
  // The next chunk of a streamed answer whose head was read; empty at its complete end, nothing when it is cut.
  std::optional<std::string> read_chunk() {
    std::string line;
    std::string chunk;
    if (!read_line(line)) return std::nullopt;
    const std::size_t size = std::stoul(line, nullptr, 16);
    if (!read_bytes(chunk, size) || !read_line(line) || !line.empty()) return std::nullopt;
    return chunk;
  }

  bool read_line(std::string& line) {
    std::size_t end = 0;
    while ((end = received_.find("\r\n")) == std::string::npos) {
      if (!receive()) return false;
    }
    line = received_.substr(0, end);
    received_.erase(0, end + 2);
    return true;
  }
  bool read_bytes(std::string& bytes, std::size_t count) {
    while (received_.size() < count) {
      if (!receive()) return false;
    }
    bytes = received_.substr(0, count);
    received_.erase(0, count);
    return true;
  }
  // Everything until the server closes. An open connection fails the test.
  std::string rest() {
    while (receive()) {
    }
    EXPECT_TRUE(ended_) << "the server did not close";
    return std::exchange(received_, {});
  }
  bool closed() {
    rest();
    return ended_;
  }

 private:
  bool receive() {
    if (ended_) return false;
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kPatienceMs) != 1) return false;
    char bytes[16384];
    const ssize_t count = ::recv(fd_, bytes, sizeof bytes, 0);
    if (count <= 0) {
      ended_ = true;
      return false;
    }
    received_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int fd_ = -1;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

}  // namespace margin::http
