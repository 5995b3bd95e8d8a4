// Answers without a stated end: server-sent events and chunked bodies, with readers that leave or do not read.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "http/testing.h"

namespace margin::http {
namespace {

Response event_stream(std::string first = "") {
  Response head = text(std::move(first));
  head.content_type = "text/event-stream";
  head.headers = {{"Cache-Control", "no-store"}};
  return head;
}

// Keeps the streams it opens, as an event route does.
struct Streams {
  std::vector<Stream> open;
  int gone = 0;
  void operator()(const Request& request, Reply reply) {
    if (request.path == "/plain") return echo(request, std::move(reply));
    open.push_back(std::move(reply).start_stream(event_stream(request.path == "/hello" ? "data: hello\n\n" : "")));
    open.back().on_disconnect([this] { ++gone; });
  }
};

// The head of a streamed answer, its body still to come.
std::map<std::string, std::string> read_head(Client& client) { return client.answer(true).headers; }

TEST(Stream, PiecesArriveAsTheyAreWrittenAndTheConnectionServesOn) {
  Streams streams;
  TestServer server(std::ref(streams));
  Client client(server.port());
  client.get("/hello");
  const auto head = read_head(client);
  EXPECT_EQ(head.at("transfer-encoding"), "chunked");
  EXPECT_EQ(head.at("content-type"), "text/event-stream");
  EXPECT_EQ(head.at("cache-control"), "no-store");
  EXPECT_EQ(client.read_chunk(), "data: hello\n\n");
  for (const std::string piece : {"a", "bc", "data: 3\n\n"}) {
    server.on_loop([&] { EXPECT_TRUE(streams.open[0].write(piece)); });
    EXPECT_EQ(client.read_chunk(), piece);
  }
  EXPECT_EQ(server.counters().streams_open, 1U);
  client.get("/plain");  // waits for the stream's end
  server.on_loop([&] {
    streams.open[0].write("last");
    streams.open[0].close();
    EXPECT_FALSE(streams.open[0].write("after the end"));
    EXPECT_FALSE(streams.open[0].open());
  });
  EXPECT_EQ(client.read_chunk(), "last");
  EXPECT_EQ(client.read_chunk(), "");
  EXPECT_EQ(client.answer().body, "GET /plain ");
  EXPECT_EQ(server.counters().streams_open, 0U);
  server.on_loop([&] { EXPECT_EQ(streams.gone, 0); });
}

TEST(Stream, WhoeverClosesHearsNothingOfAClientThatLeftInTheSameMoment) {
  Streams streams;
  TestServer server(std::ref(streams), {.stream_buffer_bytes_max = 1000});
  Client client(server.port());
  client.get("/hello");
  read_head(client);
  server.on_loop([&] {
    // Disconnects a reader that lags, and tells so from the loop, later.
    while (streams.open[0].write(std::string(1'000'000, 'x'))) {
    }
    streams.open[0].close();
  });
  server.on_loop([] {});
  server.on_loop([&] { EXPECT_EQ(streams.gone, 0); });
}

TEST(Stream, Http10GetsTheBareBytesUntilTheConnectionEnds) {
  Streams streams;
  TestServer server(std::ref(streams));
  Client client(server.port());
  client.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto head = read_head(client);
  EXPECT_FALSE(head.contains("transfer-encoding"));
  EXPECT_EQ(head.at("connection"), "close");
  server.on_loop([&] {
    streams.open[0].write("more");
    streams.open[0].close();
  });
  EXPECT_EQ(client.rest(), "data: hello\n\nmore");
}

TEST(Stream, HeadEndsAtTheHead) {
  Streams streams;
  TestServer server(std::ref(streams));
  Client client(server.port());
  client.send("HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(read_head(client).at("content-type"), "text/event-stream");
  server.on_loop([&] { EXPECT_FALSE(streams.open[0].open()); });
  client.get("/plain");
  EXPECT_EQ(client.answer().body, "GET /plain ");
}

TEST(Stream, DestroyedWithoutItsEndCutsTheConnection) {
  Streams streams;
  TestServer server(std::ref(streams));
  Client client(server.port());
  client.get("/hello");
  read_head(client);
  EXPECT_EQ(client.read_chunk(), "data: hello\n\n");
  server.on_loop([&] { streams.open.clear(); });
  EXPECT_EQ(client.read_chunk(), std::nullopt);
  EXPECT_EQ(server.counters().streams_open, 0U);
}

TEST(Stream, DroppedWithinItsHandlerCutsTheConnectionAndNothingElse) {
  std::vector<Timer> timers;
  TestServer* all = nullptr;
  TestServer server([&](const Request& request, Reply reply) {
    if (request.path == "/plain") return echo(request, std::move(reply));
    if (request.path == "/drop") return void(std::move(reply).start_stream(event_stream("data: lost\n\n")));
    const auto later = std::make_shared<Reply>(std::move(reply));
    timers.push_back(all->loop().after(std::chrono::milliseconds(3), [later] { std::move(*later).send(text("later")); }));
  });
  all = &server;
  for (const char* first : {"/plain", "/later"}) {
    Client client(server.port());
    client.send("GET " + std::string(first) + " HTTP/1.1\r\nHost: h\r\n\r\nGET /drop HTTP/1.1\r\nHost: h\r\n\r\n");
    client.rest();
    EXPECT_TRUE(server.eventually([](const Counters& counters) { return counters.connections_open == 0 && counters.streams_open == 0; }));
  }
  Client other(server.port());
  other.get("/plain");
  EXPECT_EQ(other.answer().status, 200);
  server.on_loop([&] { timers.clear(); });
}

TEST(Stream, HandlerLearnsThatTheClientLeft) {
  Streams streams;
  TestServer server(std::ref(streams));
  for (const bool reset : {false, true}) {
    Client client(server.port());
    client.get("/hello");
    read_head(client);
    EXPECT_EQ(client.read_chunk(), "data: hello\n\n");
    reset ? client.reset() : client.close();
    EXPECT_TRUE(server.eventually([](const Counters& counters) { return counters.connections_open == 0 && counters.streams_open == 0; }));
  }
  server.on_loop([&] {
    EXPECT_EQ(streams.gone, 2);
    EXPECT_FALSE(streams.open[0].open());
    EXPECT_FALSE(streams.open[1].write("into the void"));
  });
}

TEST(Stream, ReaderThatDoesNotReadIsDisconnectedAndOthersAreNot) {
  Streams streams;
  TestServer server(std::ref(streams), {.stream_buffer_bytes_max = 100'000});
  Client lazy(server.port(), 4096);
  lazy.get("/hello");
  read_head(lazy);
  Client eager(server.port());
  eager.get("/hello");
  read_head(eager);
  EXPECT_EQ(eager.read_chunk(), "data: hello\n\n");
  const std::string piece(1000, 'x');
  bool lazy_open = true;
  // Loopback's own buffers may take megabytes before ours begins to fill.
  for (int i = 0; i < 100'000 && lazy_open; ++i) {
    server.on_loop([&] {
      EXPECT_TRUE(streams.open[1].write(piece));
      lazy_open = streams.open[0].write(piece);
      EXPECT_LE(streams.open[0].backlog(), 100'000U);
    });
    ASSERT_EQ(eager.read_chunk(), piece);
  }
  EXPECT_FALSE(lazy_open);
  EXPECT_EQ(server.counters().slow_readers, 1U);
  EXPECT_EQ(server.counters().streams_open, 1U);
  server.on_loop([&] { EXPECT_EQ(streams.gone, 1); });
}

TEST(Stream, OnePastTheNumberAllowedIsA503) {
  Streams streams;
  TestServer server(std::ref(streams), {.streams_max = 2});
  Client first(server.port());
  Client second(server.port());
  Client third(server.port());
  for (Client* client : {&first, &second}) {
    client->get("/hello");
    read_head(*client);
    EXPECT_EQ(client->read_chunk(), "data: hello\n\n");
  }
  third.get("/hello");
  const Answer refused = third.answer();
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("\"code\":\"too_many_streams\""), std::string::npos);
  server.on_loop([&] {
    EXPECT_FALSE(streams.open[2].open());
    streams.open[0].close();
  });
  third.get("/hello");
  EXPECT_TRUE(read_head(third).contains("transfer-encoding"));
  EXPECT_EQ(server.counters().streams_refused, 1U);
}

TEST(Stream, QuietStreamOutlivesTheTimeoutsOfRequests) {
  Streams streams;
  const std::chrono::milliseconds brief(20);
  TestServer server(std::ref(streams), {.idle_timeout = brief, .header_timeout = brief, .body_timeout = brief, .write_timeout = brief});
  Client client(server.port());
  client.get("/hello");
  read_head(client);
  client.read_chunk();
  std::this_thread::sleep_for(10 * brief);
  server.on_loop([&] { EXPECT_TRUE(streams.open[0].write("still here")); });
  EXPECT_EQ(client.read_chunk(), "still here");
}

}  // namespace
}  // namespace margin::http
