// HTTP as clients speak it: keep-alive, pipelining, bodies, half-closed and broken connections, replies that come later.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "http/testing.h"

namespace margin::http {
namespace {

TEST(Session, KeepsTheConnectionForTheNextRequest) {
  TestServer server(echo);
  Client client(server.port());
  for (int i = 0; i < 3; ++i) {
    client.get("/" + std::to_string(i));
    const Answer answer = client.answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "GET /" + std::to_string(i) + " ");
    EXPECT_FALSE(answer.headers.contains("connection"));
    EXPECT_TRUE(answer.headers.contains("date"));
  }
  EXPECT_EQ(server.counters().connections_accepted, 1U);
  EXPECT_EQ(server.counters().requests, 3U);
}

TEST(Session, RequestReachesTheHandlerInItsParts) {
  TestServer server([](const Request& request, Reply reply) {
    std::move(reply).send(text(std::string(request.method) + "|" + std::string(request.path) + "|" + std::string(request.query) + "|" +
                               std::string(request.header("x-one").value_or("-")) + "|" + std::string(request.peer) +
                               (request.peer_is_loopback ? "|loopback" : "")));
  });
  Client client(server.port());
  client.send("PATCH /a%20b/c?x=1&y=%3F HTTP/1.1\r\nHost: h\r\nX-One:  two words \r\n\r\n");
  EXPECT_EQ(client.answer().body, "PATCH|/a%20b/c|x=1&y=%3F|two words|127.0.0.1|loopback");
  client.send("GET http://elsewhere:80/path?q HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.answer().body, "GET|/path|q|-|127.0.0.1|loopback");
  client.send("GET http://elsewhere HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.answer().body, "GET|/||-|127.0.0.1|loopback");
  client.send("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.answer().body, "OPTIONS|*||-|127.0.0.1|loopback");
}

TEST(Session, PipelinedRequestsAreAnsweredInOrder) {
  TestServer server(echo);
  Client client(server.port());
  std::string all;
  for (int i = 0; i < 500; ++i) {
    all += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nbody" + std::to_string(i % 10);
  }
  client.send(all);
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(client.answer().body, "POST /" + std::to_string(i) + " body" + std::to_string(i % 10));
  }
}

// Answers of one turn of the loop leave together, and yet the first of many do not wait for the last.
TEST(Session, TheFirstAnswersOfALongTurnAreSentBeforeItsLastRequestIsServed) {
  constexpr std::size_t kClients = 100;
  std::vector<std::unique_ptr<Client>> clients;
  std::size_t served = 0;
  std::size_t served_before_an_answer_came = 0;
  std::promise<void> all_served;
  TestServer server([&](const Request&, Reply reply) {
    const bool came = std::any_of(clients.begin(), clients.end(), [](const auto& client) { return client->has_something(); });
    if (!came) ++served_before_an_answer_came;
    std::move(reply).send(text("here"));
    if (++served == kClients) all_served.set_value();
  });
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(std::make_unique<Client>(server.port()));
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.connections_open == kClients; }));
  // While the loop stands still all of them ask, so that it finds them in one turn.
  std::promise<void> asked;
  server.loop().post([&] { asked.get_future().wait(); });
  for (const auto& client : clients) client->get("/");
  asked.set_value();
  ASSERT_EQ(all_served.get_future().wait_for(std::chrono::milliseconds(kPatienceMs)), std::future_status::ready);
  for (const auto& client : clients) EXPECT_EQ(client->answer().body, "here");
  EXPECT_GE(served_before_an_answer_came, 2) << "they leave together";
  EXPECT_LE(served_before_an_answer_came, kClients / 2);
}

// Whoever answers is in the midst of something: nobody is to be called there.
TEST(Session, AnsweringServesNoOtherRequestMeanwhile) {
  constexpr std::size_t kClients = 100;
  std::vector<Reply> held;
  bool answering = false;
  int served_meanwhile = 0;
  TestServer server([&](const Request& request, Reply reply) {
    served_meanwhile += answering ? 1 : 0;
    if (request.path == "/next") return echo(request, std::move(reply));
    held.push_back(std::move(reply));
  });
  const auto answer_all = [&] {
    answering = true;
    for (Reply& reply : held) std::move(reply).send(text("first"));
    answering = false;
    held.clear();
  };
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(std::make_unique<Client>(server.port()));
  for (const bool in_turn : {true, false}) {
    for (const auto& client : clients) client->send("GET /first HTTP/1.1\r\nHost: h\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n");
    bool all_held = false;
    while (!all_held) server.on_loop([&] { all_held = held.size() == kClients; });
    Timer timer;
    server.on_loop([&] {
      if (in_turn) return answer_all();
      timer = server.loop().after(std::chrono::milliseconds(0), answer_all);
    });
    for (const auto& client : clients) {
      EXPECT_EQ(client->answer().body, "first");
      EXPECT_EQ(client->answer().body, "GET /next ");
    }
    server.on_loop([&] {
      timer.cancel();
      EXPECT_EQ(served_meanwhile, 0) << (in_turn ? "in a turn" : "out of a turn");
    });
  }
}

TEST(Session, RepliesThatComeLaterKeepTheOrderOfPipelinedRequests) {
  std::vector<Timer> timers;
  TestServer* all = nullptr;
  TestServer server([&](const Request& request, Reply reply) {
    if (request.path.size() % 2 == 0) return echo(request, std::move(reply));
    // The views stay valid until the reply is sent.
    const auto later = std::make_shared<std::pair<const Request*, Reply>>(&request, std::move(reply));
    timers.push_back(all->loop().after(std::chrono::milliseconds(3), [later] { echo(*later->first, std::move(later->second)); }));
  });
  all = &server;
  Client client(server.port());
  client.get("/a");
  client.get("/bc");
  client.get("/d");
  client.get("/ef");
  for (const char* path : {"/a", "/bc", "/d", "/ef"}) EXPECT_EQ(client.answer().body, std::string("GET ") + path + " ");
  server.on_loop([&] { timers.clear(); });
}

TEST(Session, RequestCutAnywhereIntoPacketsIsTheSameRequest) {
  TestServer server(echo);
  const std::string request =
      "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: t\r\n\r\n";
  for (std::size_t cut = 1; cut < request.size(); cut += 3) {
    Client client(server.port());
    client.send(request.substr(0, cut));
    // Another connection's answer shows that the loop has had its turn with the first piece.
    Client other(server.port());
    other.get("/other");
    other.answer();
    client.send(request.substr(cut));
    EXPECT_EQ(client.answer().body, "POST /p hello world") << cut;
  }
}

// The system ends a read before an urgent byte, though more is there.
TEST(Session, RequestWithAnUrgentByteInItsMidstIsServed) {
  TestServer server(echo);
  Client client(server.port());
  client.get("/before");
  EXPECT_EQ(client.answer().status, 200);
  // While the loop stands still, so that it finds all of it at once.
  std::promise<void> sent;
  server.loop().post([&] { sent.get_future().wait(); });
  client.send("GET /ur");
  EXPECT_TRUE(client.send_urgent());
  client.send("gent HTTP/1.1\r\nHost: h\r\n\r\n");
  sent.set_value();
  EXPECT_EQ(client.answer().body, "GET /urgent ");
}

TEST(Session, LargeBodiesComeInAndGoOutWhole) {
  TestServer server([](const Request& request, Reply reply) { std::move(reply).send(text(std::string(request.body))); });
  Client client(server.port());
  std::string body(1 << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 + i / 251);
  std::thread sender([&] {
    for (int i = 0; i < 3; ++i)
      client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    client.get("/last");
  });
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.answer().body == body);
  EXPECT_EQ(client.answer().status, 200);
  sender.join();
}

TEST(Session, HeadHasTheLengthAndNoBody) {
  TestServer server(echo);
  Client client(server.port());
  client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.answer(true).headers["content-length"], "8");
  client.get("/y");
  EXPECT_EQ(client.answer().body, "GET /y ");
}

TEST(Session, StatusWithoutContentHasNeitherBodyNorLength) {
  TestServer server([](const Request&, Reply reply) { std::move(reply).send(text("ignored", 204)); });
  Client client(server.port());
  client.get("/");
  const Answer answer = client.answer();
  EXPECT_EQ(answer.status, 204);
  EXPECT_FALSE(answer.headers.contains("content-length"));
  client.get("/");
  EXPECT_EQ(client.answer().status, 204);
}

TEST(Session, Http10ClosesUnlessAskedToStay) {
  TestServer server(echo);
  Client closing(server.port());
  closing.send("GET /a HTTP/1.0\r\n\r\n");
  EXPECT_EQ(closing.answer().headers["connection"], "close");
  EXPECT_TRUE(closing.closed());
  Client staying(server.port());
  staying.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(staying.answer().headers["connection"], "keep-alive");
  staying.send("GET /b HTTP/1.0\r\n\r\n");
  EXPECT_EQ(staying.answer().body, "GET /b ");
  EXPECT_TRUE(staying.closed());
}

TEST(Session, ConnectionCloseIsHonouredAndWhatFollowsIsNotServed) {
  TestServer server(echo);
  Client client(server.port());
  client.send("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.answer().headers["connection"], "close");
  EXPECT_EQ(client.rest(), "");
  EXPECT_EQ(server.counters().requests, 1U);
}

TEST(Session, ContinueIsSentBeforeTheBodyAndOnlyThen) {
  TestServer server(echo);
  Client client(server.port());
  client.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.answer().status, 100);
  client.send("abc");
  EXPECT_EQ(client.answer().body, "POST /a abc");
  client.send("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc");
  EXPECT_EQ(client.answer().body, "POST /b abc");  // no need to ask for what is there
  client.send("POST /c HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.answer().status, 413);
  EXPECT_TRUE(client.closed());
}

TEST(Session, ClientThatClosesItsSendingSideStillGetsItsAnswers) {
  TestServer server(echo);
  Client client(server.port());
  client.get("/a");
  client.get("/b");
  client.end_sending();
  EXPECT_EQ(client.answer().body, "GET /a ");
  EXPECT_EQ(client.answer().body, "GET /b ");
  EXPECT_EQ(client.rest(), "");
}

TEST(Session, RequestCutByTheEndOfTheConnectionIsNotServed) {
  TestServer server(echo);
  for (const char* piece : {"GET", "GET / HTTP/1.1\r\nHost: h\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab",
                            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"}) {
    Client client(server.port());
    client.send(piece);
    client.end_sending();
    EXPECT_EQ(client.rest(), "");
  }
  EXPECT_TRUE(server.eventually([](const Counters& counters) { return counters.connections_open == 0; }));
  EXPECT_EQ(server.counters().requests, 0U);
  EXPECT_EQ(server.counters().refused[Counters::kCut], 4U);
}

TEST(Session, HandlerLearnsThatTheClientWentAwayAndMayAnswerAllTheSame) {
  std::optional<Reply> held;
  std::promise<void> gone;
  TestServer server([&](const Request&, Reply reply) {
    reply.on_disconnect([&] { gone.set_value(); });
    held.emplace(std::move(reply));
  });
  Client client(server.port());
  client.get("/");
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.requests == 1; }));
  client.reset();
  gone.get_future().wait();
  server.on_loop([&] {
    std::move(*held).send(text("too late"));
    held.reset();
  });
  EXPECT_EQ(server.counters().connections_open, 0U);
}

TEST(Session, ReplyDestroyedUnsentIsA500AndSoIsAHandlerThatThrows) {
  TestServer server([](const Request& request, Reply) {
    if (request.path == "/throw") throw std::runtime_error("broken");
  });
  Client client(server.port());
  for (const char* path : {"/forget", "/throw"}) {
    client.get(path);
    const Answer answer = client.answer();
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(
        answer.body,
        R"({"error":{"message":"the server failed to answer this request","type":"api_error","param":null,"code":"internal_error"}})");
  }
  EXPECT_EQ(server.counters().replies_forgotten, 2U);
}

TEST(Session, HeadersOfAnAnswerCannotForgeOthers) {
  TestServer server([](const Request&, Reply reply) {
    Response response = text("ok");
    response.headers = {{"X-Echo", "a\r\nSet-Cookie: b"}};
    std::move(reply).send(std::move(response));
  });
  Client client(server.port());
  client.get("/");
  const Answer answer = client.answer();
  EXPECT_FALSE(answer.headers.contains("set-cookie"));
  EXPECT_EQ(answer.headers.at("x-echo"), "a  Set-Cookie: b");
}

TEST(Session, AHundredConnectionsAtOnceEachGetTheirOwnAnswers) {
  TestServer server(echo);
  constexpr int kThreads = 4;
  constexpr int kClients = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<Client>> clients;
      for (int c = 0; c < kClients; ++c) clients.push_back(std::make_unique<Client>(server.port()));
      for (int round = 0; round < 20; ++round) {
        const auto path = [&](int c) { return "/" + std::to_string(t) + "/" + std::to_string(c) + "/" + std::to_string(round); };
        for (int c = 0; c < kClients; ++c) clients[static_cast<std::size_t>(c)]->get(path(c));
        for (int c = 0; c < kClients; ++c) ASSERT_EQ(clients[static_cast<std::size_t>(c)]->answer().body, "GET " + path(c) + " ");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server.counters().requests, 2000U);
  EXPECT_TRUE(server.eventually([](const Counters& counters) { return counters.connections_open == 0; }));
}

// Keeps the loop from looking at its sockets until it is destroyed.
class Standstill {
 public:
  explicit Standstill(TestServer& server) {
    server.loop().post([this] {
      begun_.set_value();
      end_.get_future().wait();
      ended_.set_value();
    });
    begun_.get_future().wait();
  }
  ~Standstill() {
    end_.set_value();
    ended_.get_future().wait();
  }

 private:
  std::promise<void> begun_;
  std::promise<void> end_;
  std::promise<void> ended_;
};

// Answers when told to, with the path.
struct HeldReplies {
  std::vector<std::pair<std::string, Reply>> held;
  void operator()(const Request& request, Reply reply) { held.emplace_back(request.path, std::move(reply)); }
  void send_all() {
    for (auto& [path, reply] : std::exchange(held, {})) std::move(reply).send(text(path));
  }
};

TEST(Session, MoreConnectionsReadyAtOnceThanOneTurnServes) {
  TestServer server(echo);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 300; ++i) clients.push_back(std::make_unique<Client>(server.port()));
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.connections_open == 300; }));
  for (int round = 0; round < 3; ++round) {
    {
      const Standstill nothing_is_read(server);
      for (std::size_t i = 0; i < clients.size(); ++i) clients[i]->get("/" + std::to_string(i));
    }
    for (std::size_t i = 0; i < clients.size(); ++i) ASSERT_EQ(clients[i]->answer().body, "GET /" + std::to_string(i) + " ");
  }
}

TEST(Session, WhatCameWhileARequestWasInWorkIsServedAfterIt) {
  HeldReplies replies;
  TestServer server(std::ref(replies));
  Client client(server.port());
  client.get("/0");
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.requests == 1; }));
  // More than the connection's buffer holds: the rest waits in the kernel, and nothing new will come to tell of it.
  std::string more;
  for (int i = 1; i <= 1000; ++i) more += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: test\r\n\r\n";
  client.send(more);
  for (int i = 0; i <= 1000; ++i) {
    ASSERT_TRUE(server.eventually([i](const Counters& counters) { return counters.requests == static_cast<std::uint64_t>(i) + 1; }));
    server.on_loop([&] { replies.send_all(); });
    ASSERT_EQ(client.answer().body, "/" + std::to_string(i));
  }
}

TEST(Session, EndThatComesTogetherWithTheRequestIsNoticed) {
  TestServer server(echo);
  Client client(server.port());
  client.get("/first");
  EXPECT_EQ(client.answer().status, 200);
  {
    const Standstill nothing_is_read(server);
    client.get("/last");
    client.end_sending();
  }
  EXPECT_EQ(client.answer().body, "GET /last ");
  EXPECT_EQ(client.rest(), "");
  EXPECT_TRUE(server.eventually([](const Counters& counters) { return counters.connections_open == 0; }));
}

TEST(Session, ResetThatComesTogetherWithTheRequestEndsTheConnection) {
  HeldReplies replies;
  TestServer server(std::ref(replies));
  Client client(server.port());
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.connections_open == 1; }));
  {
    const Standstill nothing_is_read(server);
    client.get("/");
    client.reset();
  }
  EXPECT_TRUE(server.eventually([](const Counters& counters) { return counters.connections_open == 0; }));
  server.on_loop([&] { replies.send_all(); });
}

TEST(Session, AnswersOfOneTurnAllLeaveAndInTheirOrder) {
  HeldReplies replies;
  TestServer server(std::ref(replies));
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(std::make_unique<Client>(server.port()));
  for (const auto& client : clients) {
    client->get("/a");
    client->get("/b");
  }
  for (const std::string path : {"/a", "/b"}) {
    const std::uint64_t so_far = path == "/a" ? 100 : 200;
    ASSERT_TRUE(server.eventually([&](const Counters& counters) { return counters.requests == so_far; }));
    server.on_loop([&] { replies.send_all(); });
    for (const auto& client : clients) ASSERT_EQ(client->answer().body, path);
  }
}

TEST(Session, AnswerThatStillWaitsWhenTheServerDrainsLeaves) {
  HeldReplies replies;
  TestServer server(std::ref(replies));
  Client client(server.port());
  client.get("/a");
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.requests == 1; }));
  std::promise<void> drained;
  server.on_loop([&] {
    replies.send_all();
    server.server().drain(std::chrono::milliseconds(kPatienceMs), [&] { drained.set_value(); });
  });
  EXPECT_EQ(client.answer().body, "/a");
  EXPECT_EQ(client.rest(), "");
  client.close();
  drained.get_future().wait();
}

TEST(Session, LargeAnswersGoOnWhenTheClientReadsAgain) {
  TestServer server([](const Request&, Reply reply) { std::move(reply).send(text(std::string(3 << 20, 'x'))); });
  Client client(server.port(), 4096);
  client.get("/");
  client.get("/");
  ASSERT_TRUE(server.eventually([](const Counters& counters) { return counters.requests >= 1; }));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.answer().body.size(), 3U << 20);
}

}  // namespace
}  // namespace margin::http
