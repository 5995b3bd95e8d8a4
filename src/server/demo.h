// Demo: simulated models that answer questions in a pool named `demo`, and outcomes that come seconds later. For people who want to see the
// server alive before they connect anything; nothing in it is real, and the pool's models are named so.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "http/loop.h"
#include "margin/random.h"
#include "service/service.h"

namespace margin::server {

class Demo {
 public:
  Demo(http::Loop& loop, service::Service& service);

 private:
  struct Awaited {
    std::uint64_t due = 0;  // number of the decision after which it comes
    Uuid decision;
    std::vector<Grade> grades;
  };
  void tick();
  void commit(EventBody body);
  void come_and_go();
  void decide();
  void grade();

  http::Loop& loop_;
  service::Service& service_;
  service::ServedPool* pool_ = nullptr;
  Random random_{20'260'501};
  std::uint64_t decisions_ = 0;
  std::deque<Awaited> awaited_;
  http::Timer timer_;
};

}  // namespace margin::server
