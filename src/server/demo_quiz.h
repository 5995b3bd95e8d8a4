// DemoQuiz: for --demo, three simulated models behind OpenAI's interface on a port of this machine, a pool `quiz` that asks them, and a
// quiz master who chats with the pool and grades what it answers. The whole way of a chat, without anybody's paid endpoint.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "config/config.h"
#include "http/loop.h"
#include "http/server.h"
#include "json/json.h"
#include "margin/random.h"
#include "server/app.h"

namespace margin::server {

// The models' side: answers a question it can recognise by its number, more or less often right, more or less boastful.
class SimulatedModels final : public http::Handler {
 public:
  explicit SimulatedModels(http::Loop& loop);
  Status start() { return server_.start(); }
  void handle(const http::Request& request, http::Reply reply) override;
  // The models as upstreams, and the pool that asks them.
  void add_to(config::Config& config) const;

 private:
  http::Server server_;
  JsonParser parser_{32};
  Random random_{20261116};
};

class DemoQuiz {
 public:
  DemoQuiz(http::Loop& loop, App& app) : loop_(loop), app_(app) { tick(); }

 private:
  void tick();
  void ask();
  void grade();

  http::Loop& loop_;
  App& app_;
  std::uint64_t asked_ = 0;
  struct Awaited {
    Uuid decision;
    std::string right;
  };
  std::deque<Awaited> awaited_;
  http::Timer timer_;
};

}  // namespace margin::server
