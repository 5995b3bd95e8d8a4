// The server as its owner uses it: start, refused addresses, drain, end with requests in flight; and the loop's timers and posts.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <vector>

#include "http/testing.h"

namespace margin::http {
namespace {

using std::chrono::milliseconds;

class Silent final : public Handler {
  void handle(const Request&, Reply) override {}
};

TEST(Server, AddressInUseIsNamed) {
  TestServer first(echo);
  Loop loop;
  Silent handler;
  Server second(loop, {.port = first.port()}, {}, handler);
  const Status status = second.start();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kConflict);
  EXPECT_EQ(status.error().message,
            "cannot listen on 127.0.0.1:" + std::to_string(first.port()) + ": another program listens there already");
}

TEST(Server, AddressesThatCannotBeAreRefused) {
  Loop loop;
  Silent handler;
  for (const char* address : {"nowhere.example", "300.0.0.1", "", "192.0.2.1"}) {
    Server server(loop, {.address = address}, {}, handler);
    const Status status = server.start();
    ASSERT_FALSE(status.ok()) << address;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(status.error().message.find(address), std::string::npos) << status.error().message;
  }
}

TEST(Server, SaysWhereItListens) {
  Loop loop;
  Silent handler;
  Server four(loop, {.address = "127.0.0.1"}, {}, handler);
  ASSERT_TRUE(four.start().ok());
  EXPECT_EQ(four.address(), "127.0.0.1:" + std::to_string(four.port()));
  Server six(loop, {.address = "::1"}, {}, handler);
  if (!six.start().ok()) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_EQ(six.address(), "[::1]:" + std::to_string(six.port()));
}

TEST(Server, TwoOfThemOnOneLoopHaveLimitsOfTheirOwn) {
  Loop loop;
  class Plain final : public Handler {
    void handle(const Request&, Reply reply) override { std::move(reply).send({}); }
  } handler;
  Server small(loop, {}, {.connections_max = 1}, handler);
  Server other(loop, {}, {.connections_max = 1}, handler);
  ASSERT_TRUE(small.start().ok());
  ASSERT_TRUE(other.start().ok());
  std::thread thread([&] { loop.run(); });
  {
    Client first(small.port());
    first.get("/");
    EXPECT_EQ(first.answer().status, 200);
    Client second(small.port());
    EXPECT_EQ(second.answer().status, 503);
    Client third(other.port());
    third.get("/");
    EXPECT_EQ(third.answer().status, 200) << "who fills the one does not keep anybody from the other";
  }
  loop.stop();
  thread.join();
  Counters both = small.counters();
  both += other.counters();
  EXPECT_EQ(both.connections_accepted, 3U);
  EXPECT_EQ(both.connections_refused, 1U);
  EXPECT_EQ(both.requests, 2U);
}

TEST(Server, PortIsFreeAgainAtOnce) {
  std::uint16_t port = 0;
  for (int i = 0; i < 3; ++i) {
    TestServer server(echo, {}, {.address = "localhost", .port = port});
    port = server.port();
    Client client(port);
    client.get("/");
    EXPECT_EQ(client.answer().status, 200);
  }
}

TEST(Server, DrainLetsRequestsInFlightEndAndRefusesNewConnections) {
  std::optional<Reply> held;
  TestServer server([&](const Request&, Reply reply) { held.emplace(std::move(reply)); });
  const std::uint16_t port = server.port();
  Client idle(port);
  Client busy(port);
  busy.get("/");
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.requests == 1 && counters.connections_open == 2; }));
  std::promise<void> drained;
  server.on_loop([&] { server.server().drain(milliseconds(kPatienceMs), [&] { drained.set_value(); }); });
  EXPECT_EQ(idle.rest(), "");
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), -1);
  ::close(fd);
  auto done = drained.get_future();
  EXPECT_EQ(done.wait_for(milliseconds(0)), std::future_status::timeout);
  server.on_loop([&] {
    std::move(*held).send(text("finished"));
    held.reset();
  });
  const Answer answer = busy.answer();
  EXPECT_EQ(answer.body, "finished");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  busy.close();
  done.wait();
}

TEST(Server, DrainWaitsForAnAnswerOnItsWay) {
  const std::size_t bytes = 32 << 20;  // more than the kernel takes at once
  TestServer server([&](const Request&, Reply reply) { std::move(reply).send(text(std::string(bytes, 'x'))); });
  Client client(server.port());
  client.get("/");
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.bytes_out > 0; }));
  std::promise<void> drained;
  server.on_loop([&] { server.server().drain(milliseconds(10 * kPatienceMs), [&] { drained.set_value(); }); });
  EXPECT_EQ(client.answer().body.size(), bytes);
  EXPECT_EQ(client.rest(), "");
  client.close();
  drained.get_future().wait();
}

TEST(Server, DrainCutsWhatIsLeftWhenPatienceEnds) {
  std::optional<Reply> held;
  TestServer server([&](const Request&, Reply reply) { held.emplace(std::move(reply)); });
  Client busy(server.port());
  busy.get("/");
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.requests == 1; }));
  std::promise<void> drained;
  server.on_loop([&] { server.server().drain(milliseconds(20), [&] { drained.set_value(); }); });
  drained.get_future().wait();
  EXPECT_EQ(busy.rest(), "");
  server.on_loop([&] { held.reset(); });
}

TEST(Server, DrainEndsAConnectionWhoseStreamHasEnded) {
  std::optional<Stream> stream;
  TestServer server([&](const Request&, Reply reply) { stream.emplace(std::move(reply).start_stream(text("first"))); });
  Client client(server.port());
  client.get("/");
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.streams_open == 1; }));
  std::promise<void> drained;
  server.on_loop([&] { server.server().drain(milliseconds(10 * kPatienceMs), [&] { drained.set_value(); }); });
  server.on_loop([&] {
    stream->write("last");
    stream->close();
  });
  EXPECT_EQ(client.answer().body, "firstlast");
  EXPECT_EQ(client.rest(), "");
  client.close();
  drained.get_future().wait();
}

// Accepting is a step ahead of the loop: a connection may be made already when the server is told to drain.
TEST(Server, DrainEndsAConnectionThatWasAcceptedAndNotYetTaken) {
  TestServer server(echo);
  std::optional<Client> first;
  std::optional<Client> second;
  bool draining = false;
  const std::function<void()> drain_when_one_is_taken = [&] {
    if (server.server().counters().connections_accepted == 0) return server.loop().post(drain_when_one_is_taken);
    server.server().drain(milliseconds(kPatienceMs), [] {});
    draining = true;
  };
  server.on_loop([&] {
    first.emplace(server.port());
    second.emplace(server.port());
    drain_when_one_is_taken();
  });
  for (bool begun = false; !begun;) server.on_loop([&] { begun = draining; });
  EXPECT_EQ(first->rest(), "");
  EXPECT_EQ(second->rest(), "");
}

TEST(Server, DrainOfAnIdleServerIsDoneAtOnce) {
  TestServer server(echo);
  std::promise<void> drained;
  server.on_loop([&] { server.server().drain(milliseconds(kPatienceMs), [&] { drained.set_value(); }); });
  drained.get_future().wait();
}

TEST(Server, MayEndWithRepliesStillHeld) {
  std::optional<Reply> held;
  std::optional<Stream> stream;
  {
    TestServer server([&](const Request& request, Reply reply) {
      if (request.path == "/stream") {
        stream.emplace(std::move(reply).start_stream(text("")));
      } else {
        held.emplace(std::move(reply));
      }
    });
    Client first(server.port());
    first.get("/");
    Client second(server.port());
    second.get("/stream");
    ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.requests == 2; }));
    server.on_loop([&] {
      held.reset();
      stream.reset();
    });
  }
  SUCCEED();
}

TEST(Server, CountsBytes) {
  TestServer server(echo);
  Client client(server.port());
  const std::string request = "GET / HTTP/1.1\r\nHost: test\r\n\r\n";
  client.get("/");
  client.answer();
  EXPECT_EQ(server.counters().bytes_in, request.size());
  EXPECT_GT(server.counters().bytes_out, 60U);
}

TEST(Loop, PostsFromManyThreadsRunInOrderOnTheLoopsThread) {
  Loop loop;
  constexpr int kEach = 2000;
  std::vector<int> last(4, -1);
  int in_order = 0;
  std::thread runner([&] { loop.run(); });
  std::vector<std::thread> posters;
  for (std::size_t t = 0; t < last.size(); ++t) {
    posters.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        loop.post([&, t, i] {
          EXPECT_EQ(std::this_thread::get_id(), runner.get_id());
          in_order += last[t] == i - 1 ? 1 : 0;
          last[t] = i;
        });
      }
    });
  }
  for (std::thread& poster : posters) poster.join();
  loop.post([&] { loop.stop(); });
  runner.join();
  EXPECT_EQ(in_order, 4 * kEach);
}

TEST(Loop, TimersFireInOrderUnlessCancelledOrDestroyed) {
  Loop loop;
  std::string fired;
  const Timer third = loop.after(milliseconds(30), [&] {
    fired += "3";
    loop.stop();
  });
  const Timer first = loop.after(milliseconds(1), [&] { fired += "1"; });
  Timer cancelled = loop.after(milliseconds(2), [&] { fired += "x"; });
  cancelled.cancel();
  loop.after(milliseconds(2), [&] { fired += "y"; }).cancel();
  Timer replaced = loop.after(milliseconds(2), [&] { fired += "z"; });
  replaced = loop.after(milliseconds(10), [&] { fired += "2"; });
  loop.run();
  EXPECT_EQ(fired, "123");
}

TEST(Loop, SignalsCallBackEachTime) {
  Loop loop;
  int hangups = 0;
  loop.on_signal(SIGHUP, [&] {
    if (++hangups == 2) return loop.stop();
    ::raise(SIGHUP);
  });
  loop.post([] { ::raise(SIGHUP); });
  loop.run();
  EXPECT_EQ(hangups, 2);
}

}  // namespace
}  // namespace margin::http
