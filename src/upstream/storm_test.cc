// Ten thousand calls to a server that misbehaves in every way at once: each ends, and nothing is left behind.
#include <gtest/gtest.h>
#include <malloc.h>

#include <filesystem>

#include "upstream/testing.h"

namespace margin::upstream {
namespace {

constexpr std::size_t kCalls = 10'000;
constexpr std::size_t kAtOnce = 32;

// One fault per request, by its number.
void misbehave(Peer& peer, std::size_t fault) {
  switch (fault % 12) {
    case 0: return peer.close();
    case 1: return peer.reset();
    case 2: peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"); return peer.reset();
    case 3:
      peer.start_stream();
      peer.chunk("data: {\"a\":1}\n\ndata: {");
      return peer.close();
    case 4: return peer.reply("{}", "429 Too Many Requests", "Retry-After: 1000\r\n");
    case 5: return peer.reply("{}", "500 Internal Server Error");
    case 6: peer.send("no HTTP at all\r\n\r\n"); return;
    case 7: peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"); return;
    case 8: peer.wait_closed(); return;  // never answers
    case 9: peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"); return;
    case 10:
      peer.start_stream();
      peer.chunk("data: [DONE]\n\n");
      peer.end_stream();
      return;
    default: return peer.reply("{\"wrong\":");
  }
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator folder("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

// Keeps kAtOnce calls under way until `left` have been started; every seventh is cancelled soon after its start.
struct Storm {
  Upstream& upstream;
  std::size_t left;
  std::promise<void>& over;
  std::size_t started = 0;
  std::size_t ended = 0;
  std::size_t cancelled = 0;
  std::size_t total = left;
  std::map<std::size_t, Call> calls = {};

  void fill() {
    while (left > 0 && calls.size() < kAtOnce) {
      --left;
      const std::size_t number = started++;
      Ask ask{.body = "{}", .stream = number % 2 == 0, .timeout = 20ms};
      calls[number] = upstream.ask(std::move(ask), [this, number](const Outcome&) {
        ++ended;
        calls.erase(number);
        fill();
      });
      if (number % 7 == 6) {
        calls.erase(number);
        ++cancelled;
      }
    }
    if (left == 0 && calls.empty() && ended + cancelled == total) over.set_value();
  }
};

TEST(UpstreamStorm, EveryFaultyCallEndsAndLeavesNothingBehind) {
  std::atomic<std::size_t> requests = 0;
  ScriptedServer server([&](Peer& peer) {
    while (peer.fd() >= 0 && peer.read_request()) misbehave(peer, requests++);
  });
  Settings settings = settings_for(server.url());
  settings.concurrency_max = kAtOnce;
  settings.retries_max = 1;
  settings.breaker_failures = 1'000'000;
  Asker asker(settings);
  std::size_t descriptors = 0;
  std::size_t bytes = 0;
  // The first round fills what is kept: idle connections, the loop's memory, the allocator's.
  for (const std::size_t calls : {kCalls / 10, kCalls}) {
    std::promise<void> over;
    std::unique_ptr<Storm> storm;
    asker.on_loop([&] {
      storm = std::make_unique<Storm>(Storm{asker.upstream(), calls, over});
      storm->fill();
    });
    ASSERT_EQ(over.get_future().wait_for(120s), std::future_status::ready);
    asker.on_loop([&] {
      EXPECT_EQ(storm->ended + storm->cancelled, calls);
      storm.reset();
    });
    const Counters counters = asker.counters();
    EXPECT_EQ(counters.in_flight, 0U);
    EXPECT_EQ(counters.waiting, 0U);
    EXPECT_LE(counters.idle_connections, kAtOnce);
    if (descriptors == 0) {
      descriptors = open_descriptors();
      bytes = mallinfo2().uordblks;
    }
  }
  // The server's side of a connection ends a moment after ours: each may still have one descriptor and one thread.
  EXPECT_LE(open_descriptors(), descriptors + 2 * kAtOnce);
  EXPECT_LE(mallinfo2().uordblks, bytes + (4 << 20)) << "10,000 calls may not leave 400 bytes each";
  const Counters counters = asker.counters();
  for (const char* const outcome : {"ok", "cut", "status", "malformed", "too_large", "timeout", "cancelled"}) {
    EXPECT_GT(counters.outcomes.count(outcome), 0U) << outcome << " never happened";
  }
}

}  // namespace
}  // namespace margin::upstream
