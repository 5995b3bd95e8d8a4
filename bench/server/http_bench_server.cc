// A server that answers every request with a constant: what src/http alone can do, beside nginx doing the same.
// http_bench_server PORT BODY_BYTES; prints the port it listens on (PORT may be 0) and runs until SIGTERM.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "http/loop.h"
#include "http/server.h"

namespace {

class Constant final : public margin::http::Handler {
 public:
  explicit Constant(std::size_t bytes) : body_(bytes, 'x') {}
  void handle(const margin::http::Request&, margin::http::Reply reply) override {
    margin::http::Response response;
    response.body = body_;
    std::move(reply).send(std::move(response));
  }

 private:
  const std::string body_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: http_bench_server PORT BODY_BYTES\n");
    return 2;
  }
  margin::http::Loop loop;
  Constant handler(std::strtoul(argv[2], nullptr, 10));
  margin::http::Server server(loop, {.port = static_cast<std::uint16_t>(std::strtoul(argv[1], nullptr, 10))}, {}, handler);
  if (const margin::Status started = server.start(); !started) {
    std::fprintf(stderr, "http_bench_server: %s\n", started.error().message.c_str());
    return 1;
  }
  loop.on_signal(SIGTERM, [&] { loop.stop(); });
  loop.on_signal(SIGINT, [&] { loop.stop(); });
  std::printf("%u\n", static_cast<unsigned>(server.port()));
  std::fflush(stdout);
  loop.run();
}
