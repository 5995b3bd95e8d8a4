// Each limit at its value and one past it, each deadline, and requests that two readers could read in two ways.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <vector>

#include "http/testing.h"

namespace margin::http {
namespace {

using std::chrono::milliseconds;
using namespace std::string_view_literals;

// The answer to `bytes` on a connection of its own.
Answer answer_to(TestServer& server, std::string_view bytes) {
  Client client(server.port());
  client.send(bytes);
  return client.answer();
}

// The answer names its reason in the one shape and ends the connection; the handler never saw the request.
void expect_refused(TestServer& server, std::string_view bytes, int status, std::string_view code) {
  const std::uint64_t before = server.counters().requests;
  Client client(server.port());
  client.send(bytes);
  const Answer answer = client.answer();
  EXPECT_EQ(answer.status, status) << bytes.substr(0, 200);
  EXPECT_NE(answer.body.find("\"code\":\"" + std::string(code) + "\"}}"), std::string::npos) << answer.body;
  EXPECT_TRUE(answer.body.starts_with("{\"error\":{\"message\":\"")) << answer.body;
  EXPECT_EQ(answer.headers.count("connection"), 1U);
  EXPECT_EQ(client.rest(), "");
  EXPECT_EQ(server.counters().requests, before);
}

std::string post(std::string_view headers, std::string_view body = "") {
  return "POST / HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

TEST(Limits, TargetOnePast) {
  TestServer server(echo, {.target_bytes_max = 100});
  const auto get = [](std::size_t bytes) { return "GET /" + std::string(bytes - 1, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n"; };
  EXPECT_EQ(answer_to(server, get(100)).status, 200);
  expect_refused(server, get(101), 414, "target_too_long");
}

TEST(Limits, ChangeForOpenConnectionsToo) {
  TestServer server(echo);
  Client open(server.port());
  open.send(post("Content-Length: 5\r\n", "12345"));
  EXPECT_EQ(open.answer().status, 200);
  server.on_loop([&] { server.server().set_limits({.body_bytes_max = 4, .connections_max = 1}); });
  open.send(post("Content-Length: 4\r\n", "1234"));
  EXPECT_EQ(open.answer().status, 200);
  EXPECT_EQ(answer_to(server, post("Content-Length: 4\r\n", "1234")).status, 503) << "one is open, and one may be";
  open.send(post("Content-Length: 5\r\n", "12345"));
  EXPECT_EQ(open.answer().status, 413);
}

TEST(Limits, HeaderBytesOnePast) {
  TestServer server(echo, {.header_bytes_max = 1000});
  const auto get = [](std::size_t bytes) {
    const std::string start = "GET / HTTP/1.1\r\nHost: h\r\nX: ";
    return start + std::string(bytes - start.size() - 4, 'a') + "\r\n\r\n";
  };
  EXPECT_EQ(answer_to(server, get(1000)).status, 200);
  expect_refused(server, get(1001), 431, "headers_too_large");
  EXPECT_NE(answer_to(server, get(1001)).body.find("larger than 1000 bytes"), std::string::npos);
  expect_refused(server, "GET /" + std::string(1000, 'a'), 414, "target_too_long");
}

TEST(Limits, HeaderBytesCountWholeHeadsThatComeInPieces) {
  TestServer server(echo, {.header_bytes_max = 1000, .header_count_max = 1000});
  Client client(server.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n");
  for (int i = 0; i < 200; ++i) {
    client.send("X: 1\r\n");
    if (i % 20 == 0) server.counters();  // the loop has had its turn
  }
  EXPECT_EQ(client.answer().status, 431);
}

TEST(Limits, HeaderCountOnePast) {
  TestServer server(echo, {.header_count_max = 10});
  const auto get = [](int others) {
    std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n";
    for (int i = 0; i < others; ++i) bytes += "X: 1\r\n";
    return bytes + "\r\n";
  };
  EXPECT_EQ(answer_to(server, get(9)).status, 200);
  expect_refused(server, get(10), 431, "too_many_headers");
}

TEST(Limits, BodyOnePastWithStatedLength) {
  TestServer server(echo, {.body_bytes_max = 100});
  EXPECT_EQ(answer_to(server, post("Content-Length: 100\r\n", std::string(100, 'x'))).status, 200);
  expect_refused(server, post("Content-Length: 101\r\n", std::string(101, 'x')), 413, "body_too_large");
  expect_refused(server, post("Content-Length: 18446744073709551615\r\n"), 413, "body_too_large");
}

TEST(Limits, BodyOnePastInChunksCountsDecodedBytes) {
  TestServer server(echo, {.body_bytes_max = 100});
  const auto chunks = [](int count) {
    std::string body;
    for (int i = 0; i < count; ++i) body += "1\r\nx\r\n";
    return post("Transfer-Encoding: chunked\r\n", body + "0\r\n\r\n");
  };
  EXPECT_EQ(answer_to(server, chunks(100)).body, "POST / " + std::string(100, 'x'));
  expect_refused(server, chunks(101), 413, "body_too_large");
  expect_refused(server, post("Transfer-Encoding: chunked\r\n", "65\r\n"), 413, "body_too_large");
  expect_refused(server, post("Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\n"), 413, "body_too_large");
}

TEST(Limits, HandlerMayAllowLargerBodiesByPath) {
  TestServer server(echo, {.body_bytes_max = 100});
  const auto put = [](int bytes) {
    return "PUT /large HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
           std::string(static_cast<std::size_t>(bytes), 'x');
  };
  EXPECT_EQ(answer_to(server, put(200)).status, 200);
  expect_refused(server, put(201), 413, "body_too_large");
}

TEST(Limits, ChunkHeadersAndTrailersAreBounded) {
  TestServer server(echo, {.header_bytes_max = 500});
  expect_refused(server, post("Transfer-Encoding: chunked\r\n", "1;" + std::string(600, 'a')), 431, "headers_too_large");
  expect_refused(server, post("Transfer-Encoding: chunked\r\n", "0\r\nX: " + std::string(600, 'a')), 431, "headers_too_large");
  expect_refused(server, post("Transfer-Encoding: chunked\r\n", "0\r\nX: " + std::string(600, 'a') + "\r\n\r\n"), 431, "headers_too_large");
}

TEST(Limits, LargeRefusedBodyStillLetsTheClientReadTheAnswer) {
  TestServer server(echo, {.body_bytes_max = 100});
  Client client(server.port());
  const std::string body(3 << 20, 'x');
  std::thread sender([&] { client.send(post("Content-Length: " + std::to_string(body.size()) + "\r\n", body)); });
  EXPECT_EQ(client.answer().status, 413);
  sender.join();
}

TEST(Limits, ConnectionsOnePast) {
  TestServer server(echo, {.connections_max = 3});
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    clients.back()->get("/");
    EXPECT_EQ(clients.back()->answer().status, 200);
  }
  Client fourth(server.port());
  fourth.get("/");
  const Answer refused = fourth.answer();
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("all 3 connections are in use"), std::string::npos);
  EXPECT_EQ(fourth.rest(), "");
  fourth.close();
  clients.pop_back();
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.connections_open == 2; }));
  Client fifth(server.port());
  fifth.get("/");
  EXPECT_EQ(fifth.answer().status, 200);
  EXPECT_EQ(server.counters().connections_refused, 1U);
}

TEST(Limits, RequestsPerConnection) {
  TestServer server(echo, {.requests_per_connection_max = 2});
  Client client(server.port());
  client.get("/");
  EXPECT_FALSE(client.answer().headers.contains("connection"));
  client.get("/");
  EXPECT_EQ(client.answer().headers["connection"], "close");
  EXPECT_TRUE(client.closed());
}

TEST(Limits, IdleConnectionIsClosedInSilence) {
  TestServer server(echo, {.idle_timeout = milliseconds(50)});
  Client never_spoke(server.port());
  EXPECT_EQ(never_spoke.rest(), "");
  Client spoke(server.port());
  spoke.get("/");
  EXPECT_EQ(spoke.answer().status, 200);
  EXPECT_EQ(spoke.rest(), "");
}

TEST(Limits, SlowHeadIsToldSoHoweverSteadilyItDrips) {
  TestServer server(echo, {.header_timeout = milliseconds(100)});
  Client client(server.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n");
  std::thread dripping([&] {
    while (client.send("X: 1\r\n")) std::this_thread::sleep_for(milliseconds(5));
  });
  const Answer answer = client.answer();
  EXPECT_EQ(answer.status, 408);
  EXPECT_NE(answer.body.find("within 100 ms"), std::string::npos) << answer.body;
  EXPECT_EQ(server.counters().refused[Counters::kTooSlow], 1U);
  dripping.join();
}

TEST(Limits, SlowBodyIsToldSo) {
  TestServer server(echo, {.body_timeout = milliseconds(50)});
  Client client(server.port());
  client.send(post("Content-Length: 10\r\n", "abc"));
  const Answer answer = client.answer();
  EXPECT_EQ(answer.status, 408);
  EXPECT_NE(answer.body.find("\"code\":\"body_timeout\""), std::string::npos) << answer.body;
}

TEST(Limits, HandlerMayTakeLongerThanEveryTimeout) {
  TestServer* all = nullptr;
  Timer timer;
  const milliseconds brief(20);
  TestServer server(
      [&](const Request&, Reply reply) {
        const auto later = std::make_shared<Reply>(std::move(reply));
        timer = all->loop().after(milliseconds(200), [later] { std::move(*later).send(text("late")); });
      },
      {.idle_timeout = brief, .header_timeout = brief, .body_timeout = brief, .write_timeout = brief});
  all = &server;
  Client client(server.port());
  client.get("/");
  EXPECT_EQ(client.answer().body, "late");
  server.on_loop([&] { timer.cancel(); });
}

TEST(Limits, ClientThatDoesNotReadItsAnswerIsDisconnected) {
  TestServer server([](const Request&, Reply reply) { std::move(reply).send(text(std::string(32 << 20, 'x'))); },
                    {.write_timeout = milliseconds(100)});
  Client client(server.port(), 4096);
  client.get("/");
  EXPECT_TRUE(server.eventually([](const Counters& counters) { return counters.slow_readers == 1 && counters.connections_open == 0; }));
}

TEST(Limits, AnswerMayTakeLongerToReadThanAConnectionMayBeIdle) {
  const std::size_t bytes = 32 << 20;  // more than the kernel takes at once
  TestServer server([&](const Request&, Reply reply) { std::move(reply).send(text(std::string(bytes, 'x'))); },
                    {.idle_timeout = milliseconds(50)});
  Client client(server.port(), 4096);
  client.get("/");
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.bytes_out > 0; }));
  std::this_thread::sleep_for(milliseconds(300));
  ASSERT_EQ(client.answer().body.size(), bytes);
  // Then it is idle.
  EXPECT_EQ(client.rest(), "");
  EXPECT_EQ(server.counters().slow_readers, 0U);
}

TEST(Limits, PipeliningClientThatDoesNotReadIsServedOnlySoFar) {
  TestServer server([](const Request&, Reply reply) { std::move(reply).send(text(std::string(8000, 'x'))); });
  Client client(server.port(), 4096);
  std::string requests;
  for (int i = 0; i < 2000; ++i) requests += "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  std::thread sender([&] { client.send(requests); });
  // What the kernel buffers plus the backlog is far from the 16 MB that all answers have.
  std::uint64_t served = 0;
  for (int quiet = 0; quiet < 20; ++quiet) {
    std::this_thread::sleep_for(milliseconds(10));
    const std::uint64_t now = server.counters().requests;
    if (now != served) quiet = 0;
    served = now;
  }
  EXPECT_LT(served, 2000U);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(client.answer().body.size(), 8000U);
  sender.join();
}

TEST(Limits, ClientThatOnlySendsIsReadOnlySoFar) {
  TestServer server([](const Request&, Reply reply) { std::move(reply).send(text(std::string(8000, 'x'))); });
  Client client(server.port(), 4096);
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  // 64 MiB of requests, of which the server must take what it can answer and no more: the rest waits in the kernel, then at the client.
  std::thread sender([&] {
    for (std::size_t sent = 0; sent < (64 << 20) && client.send(requests); sent += requests.size()) {
    }
  });
  std::uint64_t taken = server.counters().bytes_in;
  for (int quiet = 0; quiet < 30; ++quiet) {
    std::this_thread::sleep_for(milliseconds(10));
    const std::uint64_t now = server.counters().bytes_in;
    if (now != taken) quiet = 0;
    taken = now;
  }
  EXPECT_GT(taken, 0U);
  EXPECT_LT(taken, 4U << 20);
  client.end_sending();  // the sender gives up
  sender.join();
}

TEST(Limits, RequestsThatCouldBeReadInTwoWaysAreRefused) {
  TestServer server(echo);
  for (const char* headers : {
           "Content-Length: 3\r\nContent-Length: 3\r\n",
           "Content-Length: 3\r\nContent-Length: 4\r\n",
           "Content-Length: 3, 3\r\n",
           "Content-Length: +3\r\n",
           "Content-Length: -3\r\n",
           "Content-Length: 0x3\r\n",
           "Content-Length: 3 3\r\n",
           "Content-Length:\r\n",
           "Content-Length: 18446744073709551616\r\n",
           "Content-Length : 3\r\n",
           "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
           "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
           "Transfer-Encoding:\r\n",
           "Transfer-Encoding:\r\n chunked\r\n",
           "X: 1\r\n folded: 2\r\n",
           "X: 1\nContent-Length: 3\r\n",
           "X\r\n",
           ": 1\r\n",
           "X Y: 1\r\n",
           "Host: other\r\n",
       }) {
    expect_refused(server, post(headers, "abc"), 400, "malformed_request");
  }
  for (const char* headers : {"Transfer-Encoding: gzip\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: chunked, gzip\r\n",
                              "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: identity\r\n", "Transfer-Encoding: \"chunked\"\r\n"}) {
    expect_refused(server, post(headers, "abc"), 501, "unsupported_transfer_encoding");
  }
  for (const char* body : {"3\r\nabcd\r\n0\r\n\r\n", "x\r\n", "-1\r\n", "3 \r\nabc\r\n", "10000000000000000\r\n", "3\nabc\r\n0\r\n\r\n",
                           "0\r\nbad trailer\r\n\r\n"}) {
    expect_refused(server, post("Transfer-Encoding: chunked\r\n", body), 400, "malformed_request");
  }
}

TEST(Limits, MalformedRequestsAreRefused) {
  TestServer server(echo);
  for (const char* bytes : {"GET / HTTP/1.1\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\nHost: h\n\n",
                            "GET path HTTP/1.1\r\nHost: h\r\n\r\n", "GET /#fragment HTTP/1.1\r\nHost: h\r\n\r\n", "{}", "\x16\x03\x01\x02",
                            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"}) {
    expect_refused(server, bytes, 400, "malformed_request");
  }
  expect_refused(server, "GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n"sv, 400, "malformed_request");
  expect_refused(server, "GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505, "unsupported_version");
  expect_refused(server, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "unsupported_version");
  expect_refused(server, post("Expect: a-miracle\r\nContent-Length: 1\r\n"), 417, "unsupported_expectation");
  EXPECT_GT(server.counters().refused[Counters::kMalformed], 10U);
  EXPECT_EQ(server.counters().refused[Counters::kUnsupported], 3U);
}

TEST(Limits, EmptyLinesBeforeARequestAreSkipped) {
  TestServer server(echo);
  EXPECT_EQ(answer_to(server, "\r\n\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n").body, "GET /a ");
}

// The last descriptors of the process go to connections; those beyond wait in the kernel until one is free.
TEST(Limits, ServerWithoutDescriptorsRecoversWhenThereAreSome) {
  TestServer server(echo);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  Client waiting(server.port());
  waiting.get("/first");
  EXPECT_EQ(waiting.answer().status, 200);
  // The next descriptor number is the limit: the client's socket exists, but the server can make none.
  auto late = std::make_unique<Client>(server.port());
  late->get("/warm");
  EXPECT_EQ(late->answer().status, 200);
  const int reserved = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const rlimit low{.rlim_cur = static_cast<rlim_t>(reserved + 1), .rlim_max = before.rlim_max};
  ::close(reserved);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  Client starved(server.port());  // takes the last one
  starved.get("/starved");
  EXPECT_TRUE(server.eventually([](const Counters& counters) { return counters.accept_failures >= 2; }));
  waiting.get("/still");
  EXPECT_EQ(waiting.answer().body, "GET /still ");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(starved.answer().body, "GET /starved ");
}

}  // namespace
}  // namespace margin::http
