// Streamed replies: events however they are cut, their ends, and Ollama's lines in OpenAI's shape.
#include <gtest/gtest.h>

#include "upstream/chat.h"
#include "upstream/testing.h"

namespace margin::upstream {
namespace {

using Events = std::vector<std::string>;

const Ask kStream{.body = R"({"model":"m","stream":true})", .stream = true};

struct Streamed {
  Outcome outcome;
  Events events;
};

Streamed stream_from(const ScriptedServer& server, Settings (*change)(Settings) = nullptr) {
  Settings settings = settings_for(server.url());
  if (change != nullptr) settings = change(settings);
  Asker asker(settings);
  const auto [number, heard] = asker.start(kStream);
  Outcome outcome = Asker::outcome_of(heard);
  return {std::move(outcome), heard->events};
}

TEST(UpstreamStream, EventsAreHeardWhileTheStreamGoesOn) {
  std::promise<void> go;
  std::future<void> gone = go.get_future();
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    peer.start_stream();
    peer.chunk("data: {\"a\":1}\n\n");
    gone.wait();
    peer.chunk("data: {\"b\":2}\n\ndata: [DONE]\n\n");
    peer.end_stream();
  });
  Asker asker(settings_for(server.url()));
  const auto [number, heard] = asker.start(kStream);
  EXPECT_TRUE(heard->wait_for([&, heard = heard] { return heard->events.size() == 1; }));
  EXPECT_FALSE(heard->outcome);
  go.set_value();
  const Outcome outcome = Asker::outcome_of(heard);
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(heard->events, (Events{R"({"a":1})", R"({"b":2})"}));
  EXPECT_EQ(outcome.body, "");
}

TEST(UpstreamStream, EventsMayBeCutAnywhere) {
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    peer.start_stream();
    for (const char c : std::string_view("data: {\"a\":1}\r\n\r\n: comment\r\n\r\ndata: two\ndata: lines\n\ndata:[DONE]\n\n"))
      peer.chunk({&c, 1});
    peer.end_stream();
  });
  const auto [outcome, events] = stream_from(server);
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(events, (Events{R"({"a":1})", "two\nlines"}));
}

TEST(UpstreamStream, AnEndWithoutDoneOrBlankLineIsCompleteWhenTheFramingSaysSo) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.start_stream();
    peer.chunk("data: {\"a\":1}\n\ndata: {\"b\":2}");
    peer.end_stream();
  });
  const auto [outcome, events] = stream_from(server);
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(events, (Events{R"({"a":1})", R"({"b":2})"}));
}

TEST(UpstreamStream, HalfAnEventAndThenACutIsAFailureAndTheHalfIsNotHeard) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.start_stream();
    peer.chunk("data: {\"a\":1}\n\ndata: {\"b\":");
    peer.reset();
  });
  const auto [outcome, events] = stream_from(server);
  EXPECT_EQ(outcome.failure, Failure::kCut);
  EXPECT_EQ(outcome.attempts, 1);
  EXPECT_EQ(outcome.message, "upstream 'model-a': the connection ended in the middle of the reply");
  EXPECT_LE(events.size(), 1U);  // a reset may overtake what was sent before it
}

TEST(UpstreamStream, AStreamWithoutFramingThatEndsWithoutDoneMayBeCut) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\ndata: {\"a\":1}\n\n");
    if (peer.number > 0) peer.send("data: [DONE]\n\n");
  });
  const Streamed cut = stream_from(server);
  EXPECT_EQ(cut.outcome.failure, Failure::kCut);
  EXPECT_EQ(cut.outcome.message, "upstream 'model-a': the stream ended before it was complete");
  EXPECT_EQ(cut.events.size(), 1U);
  EXPECT_FALSE(stream_from(server).outcome.failure);
}

TEST(UpstreamStream, ItsConnectionIsUsedAgain) {
  ScriptedServer server([](Peer& peer) {
    while (peer.read_request()) {
      peer.start_stream();
      peer.chunk("data: 1\n\n");
      peer.chunk("data: [DONE]\n\n");
      std::this_thread::sleep_for(5ms);  // the end of the reply comes in a packet of its own
      peer.end_stream();
    }
  });
  Asker asker(settings_for(server.url()));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(asker.ask(kStream).failure);
  EXPECT_EQ(server.connections(), 1U);
}

TEST(UpstreamStream, DoneEndsTheCallEvenWhenTheReplyNeverEnds) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.start_stream();
    peer.chunk("data: 1\n\ndata: [DONE]\n\ndata: 2\n\n");
    EXPECT_TRUE(peer.wait_closed());
  });
  const auto [outcome, events] = stream_from(server);
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(events, Events{"1"});
}

TEST(UpstreamStream, APlainReplyToAStreamRequestIsTheBody) {
  ScriptedServer server(always(R"({"choices":[]})"));
  const auto [outcome, events] = stream_from(server);
  EXPECT_FALSE(outcome.failure);
  EXPECT_EQ(outcome.body, R"({"choices":[]})");
  EXPECT_EQ(events, Events{});
}

TEST(UpstreamStream, AnErrorBeforeTheStreamIsRetriedAndItsBodyKept) {
  ScriptedServer server(always(R"({"error":"full"})", "503 Service Unavailable"));
  const auto [outcome, events] = stream_from(server);
  EXPECT_EQ(outcome.failure, Failure::kStatus);
  EXPECT_EQ(outcome.attempts, 3);
  EXPECT_EQ(outcome.body, R"({"error":"full"})");
}

TEST(UpstreamStream, AStreamBeyondTheLimitIsCutOff) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.start_stream();
    while (peer.chunk("data: " + std::string(1000, 'x') + "\n\n")) {
    }
  });
  const auto [outcome, events] = stream_from(server, [](Settings settings) {
    settings.reply_bytes_max = 10'000;
    return settings;
  });
  EXPECT_EQ(outcome.failure, Failure::kTooLarge);
  EXPECT_EQ(events.size(), 9U);
}

TEST(UpstreamStream, CancellingWithinAnEventIsTheLastThatIsHeard) {
  std::promise<bool> closed;
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    peer.start_stream();
    peer.chunk("data: 1\n\ndata: 2\n\ndata: 3\n\n");
    closed.set_value(peer.wait_closed());
  });
  Asker asker(settings_for(server.url()));
  Call call;
  Events events;
  const auto alive = std::make_shared<int>();
  asker.on_loop([&] {
    call = asker.upstream().ask(
        kStream, [](const Outcome&) { ADD_FAILURE() << "done after it was cancelled"; },
        [&, alive](std::string_view event) {
          events.emplace_back(event);
          call = {};
        });
  });
  EXPECT_TRUE(closed.get_future().get());
  asker.on_loop([] {});
  EXPECT_EQ(events, Events{"1"});
  EXPECT_EQ(alive.use_count(), 1) << "what the callback held is let go";
}

Settings ollama(Settings settings) {
  settings.dialect = Dialect::kOllama;
  return settings;
}

TEST(UpstreamStream, OllamasLinesBecomeChunks) {
  std::string request;
  ScriptedServer server([&](Peer& peer) {
    peer.read_request();
    request = peer.head.substr(0, peer.head.find("\r\n")) + peer.body;
    peer.start_stream("application/x-ndjson");
    const std::string lines =
        R"({"model":"l","created_at":"2023-08-04T19:22:45.4Z","message":{"role":"assistant","content":"Pa"},"done":false})"
        "\n"
        R"({"model":"l","created_at":"2023-08-04T19:22:45.5Z","message":{"role":"assistant","content":"ris"},"done":false})"
        "\n"
        R"({"model":"l","created_at":"2023-08-04T19:22:46Z","message":{"role":"assistant","content":""},"done":true,)"
        R"("done_reason":"stop","prompt_eval_count":26,"eval_count":2})"
        "\n";
    for (std::size_t i = 0; i < lines.size(); i += 7) peer.chunk(std::string_view(lines).substr(i, 7));
    peer.end_stream();
  });
  Asker asker(ollama(settings_for(server.url().substr(0, server.url().size() - 3))));
  const auto [number, heard] = asker.start(Ask{
      .body = R"({"model":"l","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"capital?"}]})",
      .stream = true});
  const Outcome outcome = Asker::outcome_of(heard);
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(request,
            R"(POST /api/chat HTTP/1.1{"model":"l","stream":true,"messages":[{"role":"user","content":"capital?"}],"options":{}})");
  ChatAssembler assembler;
  JsonParser parser(16);
  for (const std::string& event : heard->events) {
    const Result<std::string> added = assembler.add(parser, event);
    EXPECT_TRUE(added.ok()) << event;
  }
  EXPECT_EQ(assembler.reply().content, "Paris");
  EXPECT_EQ(assembler.reply().model, "l");
  EXPECT_EQ(assembler.reply().finish_reason, "stop");
  EXPECT_EQ(assembler.reply().usage, (Usage{.prompt_tokens = 26, .completion_tokens = 2, .total_tokens = 28}));
}

TEST(UpstreamStream, OllamasStreamThatEndsBeforeItsLastLineIsCut) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.start_stream("application/x-ndjson");
    peer.chunk(R"({"model":"l","message":{"role":"assistant","content":"Pa"},"done":false})"
               "\n");
    peer.end_stream();
  });
  Asker asker(ollama(settings_for(server.url())));
  const Outcome outcome = asker.ask(Ask{.body = R"({"messages":[],"stream":true})", .stream = true});
  EXPECT_EQ(outcome.failure, Failure::kCut);
}

TEST(UpstreamStream, OllamasWholeReplyIsTranslatedAndNonsenseIsMalformed) {
  ScriptedServer server([](Peer& peer) {
    while (peer.read_request()) {
      peer.reply(peer.body.find("sense") == std::string::npos ? R"({"model":"l","message":{"role":"assistant","content":"4"},"done":true})"
                                                              : R"({"no":"message"})");
    }
  });
  Asker asker(ollama(settings_for(server.url())));
  const Outcome outcome = asker.ask(Ask{.body = R"({"model":"l","messages":[]})"});
  EXPECT_FALSE(outcome.failure) << outcome.message;
  JsonParser parser(16);
  const Result<ChatReply> reply = read_chat_reply(parser, outcome.body);
  ASSERT_TRUE(reply.ok()) << outcome.body;
  EXPECT_EQ(reply->content, "4");
  const Outcome nonsense = asker.ask(Ask{.body = R"({"model":"sense","messages":[]})"});
  EXPECT_EQ(nonsense.failure, Failure::kMalformed);
  EXPECT_EQ(nonsense.message, "upstream 'model-a': it does not speak Ollama's protocol: message is missing, expected an object");
  const Outcome untranslatable = asker.ask(Ask{.body = R"({"model":"l","messages":[],"n":2})"});
  EXPECT_EQ(untranslatable.failure, Failure::kMalformed);
  EXPECT_EQ(untranslatable.attempts, 0);
}

}  // namespace
}  // namespace margin::upstream
