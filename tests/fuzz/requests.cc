// Fuzzes what a running server makes of the bodies that everybody may send: /v1/decide, /v1/feedback, its batch and its reverts. The first
// letter says which, the rest is the body; D and F stand for a decision and a feedback that are there. Whatever comes is answered, with
// JSON, and never as a fault of the server's own.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "json/json.h"
#include "server/daemon.h"

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

// libFuzzer looks at its clock by a signal every few seconds, which interrupts whoever waits.
template <typename Call>
ssize_t uninterrupted(Call call) {
  ssize_t result = 0;
  do result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

struct Answer {
  int status = 0;
  std::string body;
};

class Client {
 public:
  explicit Client(int port) : port_(port) { connect(); }

  Answer post(std::string_view path, std::string_view body) {
    const std::string request =
        "POST " + std::string(path) +
        " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
        std::string(body);
    must(uninterrupted([&] { return write(socket_, request.data(), request.size()); }) == static_cast<ssize_t>(request.size()));
    std::string reply;
    std::size_t head = std::string::npos;
    std::size_t length = 0;
    while (head == std::string::npos || reply.size() < head + length) {
      char some[65536];
      const ssize_t got = uninterrupted([&] { return read(socket_, some, sizeof some); });
      must(got > 0);
      reply.append(some, static_cast<std::size_t>(got));
      if (head == std::string::npos && (head = reply.find("\r\n\r\n")) != std::string::npos) {
        head += 4;
        const std::size_t at = reply.find("Content-Length: ");
        must(at < head);
        length = std::strtoul(reply.c_str() + at + 16, nullptr, 10);
      }
    }
    const Answer answer{std::atoi(reply.c_str() + 9), reply.substr(head, length)};
    if (reply.substr(0, head).find("Connection: close") != std::string::npos) {
      close(socket_);
      connect();
    }
    return answer;
  }

 private:
  void connect() {
    socket_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    must(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }

  int port_;
  int socket_ = -1;
};

// Lives as long as the process.
int serve() {
  const std::string folder = std::filesystem::temp_directory_path() / ("margin_fuzz_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/margin.toml")
      << "[store]\ndurability = \"process\"\n[log]\nlevel = \"error\"\n[limits]\nrequests_per_connection = 1000000000\n";
  static std::string remove_at_end;
  remove_at_end = folder;
  std::atexit([] { std::filesystem::remove_all(remove_at_end); });
  auto& listening = *new std::promise<int>;
  auto& options = *new margin::server::DaemonOptions;
  options.config_file = folder + "/margin.toml";
  options.listen = "127.0.0.1:0";
  options.store = folder + "/margin.db";
  options.listening = [&listening](const margin::server::Addresses& addresses) {
    listening.set_value(std::atoi(addresses.main.c_str() + addresses.main.rfind(':') + 1));
  };
  std::thread([&options] { static_cast<void>(margin::server::serve(options)); }).detach();
  return listening.get_future().get();
}

std::string text_of(const Answer& answer, std::string_view key) {
  margin::JsonParser parser(8);
  const auto json = parser.parse(answer.body);
  must(json.ok() && (*json)->find(key) != nullptr);
  return std::string((*json)->find(key)->text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Client& client = *new Client(serve());
  static const std::string decision =
      text_of(client.post("/v1/decide",
                          R"({"responses":[{"model":"a","answer":"x","confidence":0.9},{"model":"b","answer":"y","confidence":0.5}]})"),
              "decision_id");
  static const std::string feedback =
      text_of(client.post("/v1/feedback", R"({"decision_id":")" + decision + R"(","outcomes":{"a":1}})"), "feedback_id");
  if (size == 0) return 0;
  constexpr std::string_view kPaths[] = {"/v1/decide", "/v1/feedback", "/v1/feedback/batch", "/v1/feedback/revert"};
  std::string body;
  for (const std::uint8_t byte : std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1)) {
    if (byte == 'D') {
      body += decision;
    } else if (byte == 'F') {
      body += feedback;
    } else {
      body += static_cast<char>(byte);
    }
  }
  const std::string_view path = kPaths[data[0] % 4];
  const Answer answer = client.post(path, body);
  must(answer.status >= 200 && answer.status < 500);
  margin::JsonParser parser(64);
  if (path == "/v1/feedback/batch" && answer.status == 200) {
    must(answer.body.ends_with("}\n"));
    return 0;
  }
  const auto json = parser.parse(answer.body);
  must(json.ok());
  must(((*json)->find("error") != nullptr) == (answer.status != 200));
  return 0;
}
