// One call over plain HTTP, when all goes well and when it does not, against a server that follows a script.
#include "upstream/upstream.h"

#include <gtest/gtest.h>

#include "upstream/testing.h"

namespace margin::upstream {
namespace {

TEST(Upstream, SendsTheBodyAndGivesTheReply) {
  std::string head;
  std::string body;
  ScriptedServer server([&](Peer& peer) {
    ASSERT_TRUE(peer.read_request());
    head = peer.head;
    body = peer.body;
    peer.reply(R"({"choices":[]})");
  });
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask(Ask{.body = R"({"model":"m","messages":[]})", .headers = {{"traceparent", "00-abc"}}});
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(outcome.status, 200);
  EXPECT_EQ(outcome.body, R"({"choices":[]})");
  EXPECT_EQ(outcome.content_type, "application/json");
  EXPECT_EQ(outcome.attempts, 1);
  EXPECT_GT(outcome.first_byte.count(), 0);
  EXPECT_GE(outcome.took, outcome.first_byte);
  EXPECT_EQ(body, R"({"model":"m","messages":[]})");
  EXPECT_TRUE(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n")) << head;
  EXPECT_NE(head.find("\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("\r\nAuthorization: Bearer sk-secret-key\r\n"), std::string::npos);
  EXPECT_NE(head.find("\r\ntraceparent: 00-abc\r\n"), std::string::npos);
}

TEST(Upstream, AppendsItsPathToTheUrlUnlessThatIsTheWhole) {
  ScriptedServer server([](Peer& peer) {
    while (peer.read_request()) peer.reply(peer.head.substr(0, peer.head.find("\r\n")));
  });
  const std::string origin = "http://localhost:" + std::to_string(server.port());
  EXPECT_EQ(Asker(settings_for(origin)).ask().body, "POST /chat/completions HTTP/1.1");
  EXPECT_EQ(Asker(settings_for(origin + "/a/?b=c")).ask().body, "POST /a/chat/completions?b=c HTTP/1.1");
  Settings settings = settings_for(origin + "/v1/traces/");
  settings.whole_url = true;
  EXPECT_EQ(Asker(settings).ask().body, "POST /v1/traces/ HTTP/1.1");
  settings.url = origin;
  EXPECT_EQ(Asker(settings).ask().body, "POST / HTTP/1.1");
}

TEST(Upstream, UsesItsConnectionAgain) {
  ScriptedServer server(always("{}"));
  Asker asker(settings_for(server.url()));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(asker.ask().failure);
  EXPECT_EQ(server.connections(), 1U);
  const Counters counters = asker.counters();
  EXPECT_EQ(counters.connects, 1U);
  EXPECT_EQ(counters.idle_connections, 1U);
  EXPECT_EQ(counters.in_flight, 0U);
  EXPECT_EQ(counters.outcomes.at("ok"), 5U);
}

TEST(Upstream, DoesNotUseAConnectionThatTheServerWantsClosed) {
  ScriptedServer server(always("{}", "200 OK", "Connection: close\r\n"));
  Asker asker(settings_for(server.url()));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(asker.ask().failure);
  EXPECT_EQ(server.connections(), 3U);
}

// The server reads the second request and closes: as when its idle time is over at the very moment the request is on its way.
TEST(Upstream, AKeptConnectionThatClosesBeforeTheReplyIsReplacedWithoutCountingAsARetry) {
  ScriptedServer server([](Peer& peer) {
    ASSERT_TRUE(peer.read_request());
    peer.reply("{}");
    if (peer.number == 0) {
      EXPECT_TRUE(peer.read_request());
      return peer.number % 2 == 0 ? peer.reset() : peer.close();
    }
    while (peer.read_request()) peer.reply(R"({"second":true})");
  });
  Settings settings = settings_for(server.url());
  settings.retries_max = 0;
  Asker asker(settings);
  EXPECT_FALSE(asker.ask().failure);
  const Outcome outcome = asker.ask();
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(outcome.attempts, 1);
  EXPECT_EQ(asker.counters().retries, 0U);
  EXPECT_EQ(server.connections(), 2U);
}

TEST(Upstream, AnIdleConnectionThatTheServerClosesIsForgotten) {
  ScriptedServer server([](Peer& peer) {
    if (peer.read_request()) peer.reply("{}");
  });
  Asker asker(settings_for(server.url()));
  EXPECT_FALSE(asker.ask().failure);
  const auto forgotten = [&] { return asker.counters().idle_connections == 0; };
  for (auto waited = 0ms; waited < kPatience && !forgotten(); waited += 1ms) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(forgotten());
}

TEST(Upstream, ANewConnectionThatIsCutBeforeAReplyIsRetriedAndThenGivenUp) {
  ScriptedServer server([](Peer& peer) { peer.read_request(); });
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask();
  EXPECT_EQ(outcome.failure, Failure::kCut);
  EXPECT_EQ(outcome.attempts, 3);
  EXPECT_EQ(outcome.message, "upstream 'model-a': the connection ended before a reply began");
  EXPECT_EQ(server.connections(), 3U);
  EXPECT_EQ(asker.counters().retries, 2U);
}

TEST(Upstream, AReplyThatIsCutInTheMiddleIsNotAskedForAgain) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    peer.reset();
  });
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask();
  EXPECT_EQ(outcome.failure, Failure::kCut);
  EXPECT_EQ(outcome.attempts, 1);
}

TEST(Upstream, ARefusedConnectionIsRetried) {
  std::uint16_t port = 0;
  {
    port = ScriptedServer([](Peer&) {}).port();
  }
  Asker asker(settings_for("http://127.0.0.1:" + std::to_string(port)));
  const Outcome outcome = asker.ask();
  EXPECT_EQ(outcome.failure, Failure::kConnect);
  EXPECT_EQ(outcome.attempts, 3);
  EXPECT_EQ(outcome.message, "upstream 'model-a': it cannot be connected to: Connection refused");
}

TEST(Upstream, AHostThatDoesNotExistIsAConnectFailure) {
  Settings settings = settings_for("http://no-such-host.invalid/v1");
  settings.retries_max = 0;
  Asker asker(settings);
  const Outcome outcome = asker.ask();
  EXPECT_EQ(outcome.failure, Failure::kConnect);
  EXPECT_TRUE(outcome.message.starts_with("upstream 'model-a': its host name cannot be resolved")) << outcome.message;
}

TEST(Upstream, AServerThatNeverAnswersRunsIntoTheDeadline) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    EXPECT_TRUE(peer.wait_closed());
  });
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask(Ask{.body = "{}", .timeout = 50ms});
  EXPECT_EQ(outcome.failure, Failure::kTimeout);
  EXPECT_EQ(outcome.message, "upstream 'model-a': no complete reply within 50 ms");
  EXPECT_GE(outcome.took, 50ms);
}

TEST(Upstream, TheDeadlineCoversASlowBodyToo) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    while (peer.send("x")) std::this_thread::sleep_for(5ms);
  });
  Settings settings = settings_for(server.url());
  settings.timeout = 60ms;
  Asker asker(settings);
  const Outcome outcome = asker.ask(Ask{.body = "{}", .timeout = 10s});
  EXPECT_EQ(outcome.failure, Failure::kTimeout);
  EXPECT_EQ(outcome.status, 200);
}

TEST(Upstream, CancellingClosesTheConnectionAtTheServer) {
  std::promise<bool> closed;
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    closed.set_value(peer.wait_closed());
  });
  Asker asker(settings_for(server.url()));
  const auto [number, heard] = asker.start(Ask{.body = "{}"});
  for (auto waited = 0ms; waited < kPatience && server.connections() == 0; waited += 1ms) std::this_thread::sleep_for(1ms);
  asker.cancel(number);
  EXPECT_TRUE(closed.get_future().get());
  EXPECT_FALSE(heard->outcome);
  const Counters counters = asker.counters();
  EXPECT_EQ(counters.outcomes.at("cancelled"), 1U);
  EXPECT_EQ(counters.in_flight, 0U);
}

TEST(Upstream, CallsBeyondTheLimitWaitInLineAndBeyondThatAreTurnedAway) {
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  std::atomic<int> requests = 0;
  ScriptedServer server([&](Peer& peer) {
    while (peer.read_request()) {
      ++requests;
      gone.wait();
      peer.reply(peer.body);
    }
  });
  Settings settings = settings_for(server.url());
  settings.concurrency_max = 2;
  settings.queue_max = 3;
  Asker asker(settings);
  std::vector<std::pair<std::size_t, std::shared_ptr<Heard>>> calls;
  for (int i = 0; i < 6; ++i) calls.push_back(asker.start(Ask{.body = std::to_string(i)}));
  const Outcome busy = Asker::outcome_of(calls[5].second);
  EXPECT_EQ(busy.failure, Failure::kBusy);
  EXPECT_EQ(busy.message, "upstream 'model-a': 2 calls are under way and 3 wait in line");
  EXPECT_EQ(asker.counters().waiting, 3U);
  EXPECT_EQ(asker.counters().in_flight, 2U);

  asker.cancel(calls[3].first);  // out of the line
  EXPECT_EQ(asker.counters().waiting, 2U);
  go.set_value();
  for (const int i : {0, 1, 2, 4}) EXPECT_EQ(Asker::outcome_of(calls[static_cast<std::size_t>(i)].second).body, std::to_string(i));
  EXPECT_EQ(requests, 4);
  EXPECT_FALSE(calls[3].second->outcome);
  EXPECT_EQ(asker.counters().in_flight, 0U);
  EXPECT_EQ(asker.counters().waiting, 0U);
}

TEST(Upstream, ADeadlineAppliesInLineToo) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.wait_closed();
  });
  Settings settings = settings_for(server.url());
  settings.concurrency_max = 1;
  Asker asker(settings);
  const auto [first, heard] = asker.start(Ask{.body = "{}"});
  const Outcome outcome = asker.ask(Ask{.body = "{}", .timeout = 20ms});
  EXPECT_EQ(outcome.failure, Failure::kTimeout);
  EXPECT_EQ(outcome.attempts, 0);
  EXPECT_EQ(outcome.message, "upstream 'model-a': no complete reply within 20 ms, all of it spent waiting in line");
  EXPECT_FALSE(heard->outcome);
}

TEST(Upstream, ARateLimitIsRetriedAfterThePauseItAsksFor) {
  std::atomic<int> requests = 0;
  ScriptedServer server([&](Peer& peer) {
    while (peer.read_request()) {
      if (++requests == 1) {
        peer.reply("{}", "429 Too Many Requests", "Retry-After-Ms: 80\r\n");
      } else {
        peer.reply(R"({"ok":true})");
      }
    }
  });
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask();
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(outcome.attempts, 2);
  EXPECT_EQ(outcome.body, R"({"ok":true})");
  EXPECT_FALSE(outcome.retry_after);
  EXPECT_GE(outcome.took, 80ms);
}

TEST(Upstream, APauseThatDoesNotFitTheDeadlineIsNotWaitedFor) {
  ScriptedServer server(always(R"({"error":{"message":"slow down"}})", "429 Too Many Requests", "Retry-After: 3600\r\n"));
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask();
  EXPECT_EQ(outcome.failure, Failure::kStatus);
  EXPECT_EQ(outcome.attempts, 1);
  EXPECT_EQ(outcome.status, 429);
  EXPECT_EQ(outcome.retry_after, 3600s);
  EXPECT_EQ(outcome.body, R"({"error":{"message":"slow down"}})");
  EXPECT_EQ(outcome.message, "upstream 'model-a': it answered 429 Too Many Requests");
}

TEST(Upstream, ARequestThatIsWrongIsNotRepeated) {
  ScriptedServer server(always(R"({"error":"what"})", "400 Bad Request"));
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask();
  EXPECT_EQ(outcome.failure, Failure::kStatus);
  EXPECT_EQ(outcome.attempts, 1);
  EXPECT_EQ(outcome.body, R"({"error":"what"})");
}

TEST(Upstream, AServerThatSaysNotToRetryIsNotAskedAgain) {
  ScriptedServer server(always("{}", "503 Service Unavailable", "X-Should-Retry: false\r\n"));
  Asker asker(settings_for(server.url()));
  EXPECT_EQ(asker.ask().attempts, 1);
}

TEST(Upstream, RedirectsAreNotFollowedAndSaidSo) {
  ScriptedServer server(always("", "302 Found", "Location: http://elsewhere/\r\n"));
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask();
  EXPECT_EQ(outcome.failure, Failure::kStatus);
  EXPECT_EQ(outcome.message,
            "upstream 'model-a': it answered 302 Found; redirects are not followed, this one leads to 'http://elsewhere/'");
}

TEST(Upstream, FailuresInARowOpenTheBreakerAndATrialClosesIt) {
  std::atomic<bool> healthy = false;
  std::atomic<int> requests = 0;
  ScriptedServer server([&](Peer& peer) {
    while (peer.read_request()) {
      ++requests;
      peer.reply("{}", healthy ? "200 OK" : "500 Internal Server Error");
    }
  });
  Settings settings = settings_for(server.url());
  settings.retries_max = 2;
  settings.breaker_failures = 5;
  settings.breaker_pause = 200ms;
  Asker asker(settings);
  EXPECT_EQ(asker.ask().failure, Failure::kStatus);
  EXPECT_FALSE(asker.counters().breaker_open);
  const Outcome opening = asker.ask();
  EXPECT_EQ(opening.failure, Failure::kStatus) << "its second attempt opens the breaker; it ends with what it had";
  EXPECT_EQ(opening.attempts, 2);
  EXPECT_TRUE(asker.counters().breaker_open);
  EXPECT_EQ(requests, 5);

  const Outcome refused = asker.ask();
  EXPECT_EQ(refused.failure, Failure::kBreaker);
  EXPECT_EQ(refused.attempts, 0);
  EXPECT_EQ(refused.message, "upstream 'model-a': it failed 5 times in a row and is left alone for a while");
  EXPECT_EQ(requests, 5);

  std::this_thread::sleep_for(settings.breaker_pause);
  EXPECT_EQ(asker.ask().failure, Failure::kStatus) << "the trial fails";
  EXPECT_EQ(requests, 6) << "and is not retried";
  EXPECT_EQ(asker.ask().failure, Failure::kBreaker);

  healthy = true;
  std::this_thread::sleep_for(settings.breaker_pause);
  EXPECT_FALSE(asker.ask().failure);
  EXPECT_FALSE(asker.counters().breaker_open);
  EXPECT_FALSE(asker.ask().failure);
}

TEST(Upstream, AKeyThatTheUpstreamRepeatsIsNotPassedOn) {
  ScriptedServer server(always(R"({"error":"wrong key sk-secret-key"})", "401 Unauthorized"));
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask();
  EXPECT_EQ(outcome.body, R"({"error":"wrong key ..."})");
  EXPECT_EQ(outcome.message.find("secret"), std::string::npos);
}

TEST(Upstream, ABodyBeyondTheLimitIsRefusedHoweverItIsFramed) {
  const std::vector<std::string> heads = {"Content-Length: 1001\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n", "\r\n"};
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\n" + heads[peer.number % heads.size()]);
    while (peer.number % heads.size() == 1 ? peer.chunk(std::string(100, 'x')) : peer.send(std::string(100, 'x'))) {
    }
  });
  Settings settings = settings_for(server.url());
  settings.reply_bytes_max = 1000;
  Asker asker(settings);
  for (std::size_t i = 0; i < heads.size(); ++i) EXPECT_EQ(asker.ask().failure, Failure::kTooLarge) << i;
}

TEST(Upstream, ABodyOfExactlyTheLimitIsTaken) {
  ScriptedServer server(always(std::string(1000, 'x')));
  Settings settings = settings_for(server.url());
  settings.reply_bytes_max = 1000;
  EXPECT_FALSE(Asker(settings).ask().failure);
}

TEST(Upstream, WhatIsNotHttpIsMalformed) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.send("SSH-2.0-OpenSSH\r\n\r\n");
    peer.wait_closed();
  });
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask();
  EXPECT_EQ(outcome.failure, Failure::kMalformed);
  EXPECT_EQ(outcome.attempts, 1);
}

TEST(Upstream, AnInterimReplyIsPassedOver) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    peer.reply("{}");
  });
  const Outcome outcome = Asker(settings_for(server.url())).ask();
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(outcome.status, 200);
}

TEST(Upstream, ALargeRequestIsSentWhole) {
  std::string received;
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    received = peer.body;
    peer.reply("{}");
  });
  const std::string body(6 << 20, 'q');
  EXPECT_FALSE(Asker(settings_for(server.url())).ask(Ask{.body = body}).failure);
  EXPECT_EQ(received.size(), body.size());
  EXPECT_TRUE(received == body);
}

TEST(Upstream, AReplyThatComesBeforeTheRequestIsSentCountsAndTheConnectionIsNotUsedAgain) {
  ScriptedServer server([](Peer& peer) {
    peer.reply("{}", "413 Payload Too Large");
    peer.wait_closed();
  });
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask(Ask{.body = std::string(32 << 20, 'q')});
  EXPECT_EQ(outcome.status, 413) << outcome.message;
  EXPECT_EQ(asker.counters().idle_connections, 0U);
}

TEST(Upstream, AHeaderThatWouldBreakTheRequestIsRefused) {
  ScriptedServer server(always("{}"));
  Asker asker(settings_for(server.url()));
  const Outcome outcome = asker.ask(Ask{.body = "{}", .headers = {{"a", "b\r\nEvil: 1"}}});
  EXPECT_EQ(outcome.failure, Failure::kMalformed);
  EXPECT_EQ(outcome.message, "upstream 'model-a': the header 'a' cannot be sent");
  EXPECT_EQ(server.connections(), 0U);
}

TEST(Upstream, WrongSettingsAreRefusedWithoutShowingSecrets) {
  http::Loop loop;
  const auto error_of = [&](auto change) {
    Settings settings = settings_for("http://host/v1");
    change(settings);
    const auto made = Upstream::make(loop, settings, {}, 1);
    return made.ok() ? std::string("accepted") : made.error().message;
  };
  EXPECT_EQ(error_of([](Settings& settings) { settings.url = "host/v1"; }),
            "upstream 'model-a': url 'host/v1' is not a URL http(s)://host[:port][/path]: it does not start with http:// or https://");
  EXPECT_EQ(error_of([](Settings& settings) { settings.url = "http://me:hidden@host/"; }),
            "upstream 'model-a': url holds a name or password before '@'; a key belongs into 'key'");
  EXPECT_EQ(error_of([](Settings& settings) { settings.key = "hidden\r\n"; }),
            "upstream 'model-a': key holds a character that no header may have");
  EXPECT_EQ(error_of([](Settings& settings) { settings.url = "https://h", settings.ca_file = "/no/such.pem"; }),
            "upstream 'model-a': ca_file '/no/such.pem' cannot be read");
}

TEST(Upstream, MayBeDestroyedWithinItsOwnCallback) {
  ScriptedServer server(always("{}"));
  http::Loop loop;
  std::unique_ptr<Upstream> upstream = Upstream::make(loop, settings_for(server.url()), {}, 1).value();
  Call call;
  loop.post([&] {
    call = upstream->ask(Ask{.body = "{}"}, [&](const Outcome&) {
      call = {};
      upstream.reset();
      loop.stop();
    });
  });
  loop.run();
  EXPECT_EQ(upstream, nullptr);
}

}  // namespace
}  // namespace margin::upstream
