// A load generator for one HTTP server on loopback. Open loop (--rate): requests are due on a fixed schedule and a latency counts from
// the moment its request was due, so a server that stalls cannot hide the requests it kept from being sent. Closed loop (no --rate): each
// connection sends its next request when it has its answer, which finds the largest throughput and says little about latency.
// Prints one JSON object. Used by compare.py.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

struct Options {
  std::uint16_t port = 0;
  std::string path = "/";
  std::string bodies_file;
  std::vector<std::string> headers;  // "Name: value"
  std::size_t connections = 64;
  double rate = 0;  // requests per second; 0: closed loop
  bool yield = false;
  double seconds = 5;
  double warmup_seconds = 0.5;
  double slice_seconds = 0;  // 0: no slices
  int status = 200;
};

// What is left unanswered for so long after the last request was due is an error.
constexpr std::chrono::seconds kGrace{5};

std::vector<std::string> make_requests(const Options& options) {
  std::string head = " " + options.path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(options.port) + "\r\n";
  for (const std::string& header : options.headers) head += header + "\r\n";
  if (options.bodies_file.empty()) return {"GET" + head + "\r\n"};
  std::vector<std::string> requests;
  std::ifstream file(options.bodies_file);
  for (std::string body; std::getline(file, body);) {
    requests.push_back("POST" + head + "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                       body);
  }
  if (requests.empty()) {
    std::fprintf(stderr, "http_load: %s holds no line to send\n", options.bodies_file.c_str());
    std::exit(2);
  }
  return requests;
}

struct Connection {
  int fd = -1;
  bool busy = false;
  Clock::time_point due;
  std::string_view unsent;
  std::string received;
};

class Load {
 public:
  explicit Load(const Options& options)
      : options_(options), requests_(make_requests(options)), connections_(options.connections), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      connect(i);
      free_.push_back(i);
    }
  }

  void run() {
    const Clock::time_point begin = Clock::now();
    measured_from_ = begin + seconds(options_.warmup_seconds);
    const Clock::time_point end = measured_from_ + seconds(options_.seconds);
    const Nanoseconds gap = options_.rate > 0 ? seconds(1 / options_.rate) : Nanoseconds(0);
    std::uint64_t scheduled = 0;
    while (true) {
      const Clock::time_point now = Clock::now();
      if (options_.rate > 0) {
        for (Clock::time_point due; (due = begin + gap * scheduled) <= now && due < end; ++scheduled) waiting_.push_back(due);
        while (!waiting_.empty() && !free_.empty()) {
          start(take_free(), waiting_.front());
          waiting_.pop_front();
        }
      } else if (now < end) {
        while (!free_.empty()) start(take_free(), now);
      }
      if (now >= end && free_.size() == connections_.size() && waiting_.empty()) break;
      if (now >= end + kGrace) break;
      poll();
    }
    for (const Connection& connection : connections_) {
      if (connection.busy) fail_unfinished(connection.due);
    }
    for (const Clock::time_point due : waiting_) fail_unfinished(due);
    report();
  }

 private:
  static Nanoseconds seconds(double count) { return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(count)); }

  void connect(std::size_t index) {
    Connection& connection = connections_[index];
    connection.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options_.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(connection.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      std::fprintf(stderr, "http_load: cannot connect to port %u: %s\n", static_cast<unsigned>(options_.port), std::strerror(errno));
      std::exit(1);
    }
    const int on = 1;
    ::setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.u64 = index}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event);
  }

  std::size_t take_free() {
    // The one that has waited longest, so that all connections are used.
    const std::size_t index = free_.front();
    free_.pop_front();
    return index;
  }

  void start(std::size_t index, Clock::time_point due) {
    Connection& connection = connections_[index];
    connection.busy = true;
    connection.due = due;
    connection.unsent = requests_[next_request_++ % requests_.size()];
    send(index);
  }

  void send(std::size_t index) {
    Connection& connection = connections_[index];
    while (!connection.unsent.empty()) {
      const ssize_t count = ::send(connection.fd, connection.unsent.data(), connection.unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0) {
        if (errno != EAGAIN) broken(index);
        return;
      }
      connection.unsent.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void poll() {
    epoll_event events[256];
    // On its own core it may spin: sleeping would make it late for the next request.
    const int count = ::epoll_wait(epoll_, events, 256, 0);
    if (count == 0 && options_.yield) sched_yield();
    for (int i = 0; i < count; ++i) {
      const std::size_t index = events[i].data.u64;
      if ((events[i].events & EPOLLOUT) != 0) send(index);
      if ((events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive(index);
    }
  }

  void receive(std::size_t index) {
    Connection& connection = connections_[index];
    char bytes[16384];
    while (true) {
      const ssize_t count = ::recv(connection.fd, bytes, sizeof bytes, MSG_DONTWAIT);
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) return broken(index);
      connection.received.append(bytes, static_cast<std::size_t>(count));
      if (connection.busy && answer_complete(connection)) finish(index);
      if (static_cast<std::size_t>(count) < sizeof bytes) return;
    }
  }

  static bool answer_complete(const Connection& connection) {
    const std::string_view received = connection.received;
    const std::size_t head = received.find("\r\n\r\n");
    if (head == std::string_view::npos) return false;
    constexpr std::string_view kLength = "\r\nContent-Length: ";
    std::size_t at = received.substr(0, head).find(kLength);
    if (at == std::string_view::npos) at = received.substr(0, head).find("\r\ncontent-length: ");
    std::size_t length = 0;
    if (at != std::string_view::npos) std::from_chars(received.data() + at + kLength.size(), received.data() + head, length);
    return received.size() >= head + 4 + length;
  }

  void finish(std::size_t index) {
    Connection& connection = connections_[index];
    int status = 0;
    if (connection.received.size() > 12) std::from_chars(connection.received.data() + 9, connection.received.data() + 12, status);
    count(connection.due, status == options_.status);
    connection.received.clear();
    connection.busy = false;
    free_.push_back(index);
  }

  void count(Clock::time_point due, bool good) {
    const Clock::time_point now = Clock::now();
    if (due < measured_from_) return;
    last_answer_ = now;
    if (options_.slice_seconds > 0) {
      while (now >= measured_from_ + seconds(options_.slice_seconds) * (slices_.size() + 1)) slices_.push_back(latencies_.size());
    }
    latencies_.push_back(now - due);
    if (!good) ++errors_;
  }

  void fail_unfinished(Clock::time_point due) {
    ++unfinished_;
    count(due, false);
  }

  void broken(std::size_t index) {
    Connection& connection = connections_[index];
    ::close(connection.fd);
    connection.received.clear();
    ++reconnects_;
    if (connection.busy) {
      count(connection.due, false);
      connection.busy = false;
      free_.push_back(index);
    }
    connect(index);
  }

  static double quantile_us(std::span<const Nanoseconds> sorted, double q) {
    if (sorted.empty()) return 0.0;
    const auto rank = static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5);
    return static_cast<double>(sorted[rank].count()) / 1e3;
  }

  // The 99th percentile of each whole slice, by the time of the answers.
  std::string slices() {
    std::string text;
    std::size_t begin = 0;
    for (const std::size_t end : slices_) {
      const std::span<Nanoseconds> slice(latencies_.data() + begin, end - begin);
      std::sort(slice.begin(), slice.end());
      char number[32];
      std::snprintf(number, sizeof number, "%s%.1f", text.empty() ? "" : ",", quantile_us(slice, 0.99));
      text += number;
      begin = end;
    }
    return text;
  }

  void report() {
    const std::string slices_p99 = slices();
    std::sort(latencies_.begin(), latencies_.end());
    const double elapsed = std::chrono::duration<double>(last_answer_ - measured_from_).count();
    const double answered = static_cast<double>(latencies_.size() - unfinished_);
    std::printf(
        "{\"mode\":\"%s\",\"connections\":%zu,\"requests\":%zu,\"errors\":%zu,\"unfinished\":%zu,\"reconnects\":%zu,\"rps\":%.1f,"
        "\"p50_us\":%.1f,\"p99_us\":%.1f,\"p99_9_us\":%.1f,\"max_us\":%.1f,\"slices_p99_us\":[%s]}\n",
        options_.rate > 0 ? "open" : "closed", connections_.size(), latencies_.size(), errors_, unfinished_, reconnects_,
        elapsed > 0 ? answered / elapsed : 0.0, quantile_us(latencies_, 0.5), quantile_us(latencies_, 0.99), quantile_us(latencies_, 0.999),
        quantile_us(latencies_, 1), slices_p99.c_str());
  }

  const Options& options_;
  const std::vector<std::string> requests_;
  std::vector<Connection> connections_;
  const int epoll_;
  std::deque<std::size_t> free_;
  std::deque<Clock::time_point> waiting_;  // due, and no connection was free
  std::uint64_t next_request_ = 0;
  Clock::time_point measured_from_;
  Clock::time_point last_answer_;
  std::vector<Nanoseconds> latencies_;
  std::vector<std::size_t> slices_;  // how many latencies there were at the end of each
  std::size_t errors_ = 0;
  std::size_t unfinished_ = 0;
  std::size_t reconnects_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Loads one HTTP server on loopback and prints rates and latencies as JSON");
  app.add_option("--port", options.port, "Port on 127.0.0.1")->required();
  app.add_option("--path", options.path, "Target of every request")->capture_default_str();
  app.add_option("--bodies", options.bodies_file, "POST the lines of this file, in turn; without it GET");
  app.add_option("--header", options.headers, "A further header, \"Name: value\"; may be repeated");
  app.add_option("--connections", options.connections, "Connections, kept alive")->capture_default_str()->check(CLI::Range(1, 10000));
  app.add_option("--rate", options.rate, "Requests due per second (open loop); without it closed loop");
  app.add_flag("--yield", options.yield, "Let others have the core first, where what is measured needs it too");
  app.add_option("--seconds", options.seconds, "Time measured")->capture_default_str()->check(CLI::Range(0.01, 3600.0));
  app.add_option("--warmup", options.warmup_seconds, "Time before that")->capture_default_str()->check(CLI::Range(0.0, 600.0));
  app.add_option("--slices", options.slice_seconds, "Also print the 99th percentile of every so many seconds")
      ->check(CLI::Range(0.01, 3600.0));
  app.add_option("--status", options.status, "Any other status is an error")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  Load(options).run();
}
