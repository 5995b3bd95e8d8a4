// Spans on their way to a collector that follows a script.
#include "trace/tracer.h"

#include <gtest/gtest.h>

#include "json/json.h"
#include "trace/otlp.h"
#include "upstream/testing.h"

namespace margin::trace {
namespace {

using namespace std::chrono_literals;
using upstream::Peer;
using upstream::ScriptedServer;

// One field of each kind, against the text that the specification of OTLP's JSON asks for: ids in hexadecimal, 64 bits as text, kinds and
// codes as numbers, names in lowerCamelCase.
TEST(Otlp, IsWrittenAsTheSpecificationHasIt) {
  Attributes resource;
  resource.set("service.name", "margin");
  Span span;
  span.name = "chat gpt-x";
  span.kind = Kind::kClient;
  span.context = *parse_traceparent("00-5b8efff798038103d269b633813fc60c-eee19b7ec3c1b174-01", "a=1");
  span.parent = 0xeee19b7ec3c1b173;
  span.start_ns = 1'544'712'660'000'000'000;
  span.end_ns = 1'544'712'661'000'000'000;
  span.attributes.set("text", "a\"b");
  span.attributes.set("whole", std::int64_t{9'007'199'254'740'993});
  span.attributes.set("number", 0.5);
  span.attributes.set("flag", true);
  span.attributes.set("list", std::vector<std::string>{"stop"});
  span.events.push_back({"gen_ai.evaluation.result", 1'544'712'660'500'000'000, {}});
  span.error = "timeout";
  EXPECT_EQ(otlp_request(resource, "1.0", std::span(&span, 1)),
            R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"margin"}}]},)"
            R"("scopeSpans":[{"scope":{"name":"margin","version":"1.0"},"spans":[{"traceId":"5b8efff798038103d269b633813fc60c",)"
            R"("spanId":"eee19b7ec3c1b174","parentSpanId":"eee19b7ec3c1b173","traceState":"a=1","name":"chat gpt-x","kind":3,)"
            R"("startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"1544712661000000000",)"
            R"("attributes":[{"key":"text","value":{"stringValue":"a\"b"}},{"key":"whole","value":{"intValue":"9007199254740993"}},)"
            R"({"key":"number","value":{"doubleValue":0.5}},{"key":"flag","value":{"boolValue":true}},)"
            R"({"key":"list","value":{"arrayValue":{"values":[{"stringValue":"stop"}]}}}],)"
            R"("events":[{"timeUnixNano":"1544712660500000000","name":"gen_ai.evaluation.result","attributes":[]}],)"
            R"("status":{"code":2,"message":"timeout"}}]}]}]})");
}

TEST(Otlp, LongAndHostileValuesAreCutAndEscaped) {
  Attributes attributes;
  attributes.set("a", std::string(5000, 'x'));
  attributes.set("b", std::vector<std::string>(100, std::string(5000, 'y')));
  attributes.set("c", "\xFF\x01");
  const std::string text = otlp_request(attributes, "1", {});
  EXPECT_LT(text.size(), 40'000U);
  JsonParser parser(16);
  EXPECT_TRUE(parser.parse(text).ok()) << text;
}

class TracerTest : public testing::Test {
 protected:
  // A collector that answers every batch alike and keeps it.
  ScriptedServer::Script collect(std::string reply = "{}", std::string status = "200 OK") {
    return [this, reply, status](Peer& peer) {
      while (peer.read_request()) {
        {
          const std::lock_guard lock(mutex_);
          heads_.push_back(peer.head);
          bodies_.push_back(peer.body);
        }
        peer.reply(reply, status);
      }
    };
  }
  Settings settings_for(const ScriptedServer& server) {
    Settings settings;
    settings.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/v1/traces";
    settings.interval = 5ms;
    return settings;
  }
  void make(const Settings& settings) {
    auto made = Tracer::make(loop_, settings, {}, 1, [this](const std::string& text) { complaints_.push_back(text); });
    ASSERT_TRUE(made.ok()) << made.error().message;
    tracer_ = std::move(*made);
  }
  Span span(const std::string& name = "chat m") {
    Span made;
    made.name = name;
    made.context = tracer_->begin(Uuid{1, 2});
    return made;
  }
  // Runs the loop until everything is sent.
  void flush() {
    loop_.post([this] { tracer_->flush(upstream::kPatience, [this] { loop_.stop(); }); });
    loop_.run();
  }
  static std::size_t count(const std::string& text, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  }

  http::Loop loop_;
  std::unique_ptr<Tracer> tracer_;
  std::vector<std::string> complaints_;
  std::mutex mutex_;
  std::vector<std::string> heads_;
  std::vector<std::string> bodies_;
};

TEST_F(TracerTest, SpansArePostedWithTheHeadersAskedFor) {
  ScriptedServer server(collect());
  Settings settings = settings_for(server);
  settings.headers = {{"api-key", "secret"}};
  make(settings);
  tracer_->add(span());
  flush();
  ASSERT_EQ(bodies_.size(), 1U);
  EXPECT_TRUE(heads_[0].starts_with("POST /v1/traces HTTP/1.1\r\n")) << heads_[0];
  EXPECT_NE(heads_[0].find("\r\napi-key: secret\r\n"), std::string::npos);
  EXPECT_NE(heads_[0].find("\r\nContent-Type: application/json\r\n"), std::string::npos);
  EXPECT_EQ(count(bodies_[0], "\"spanId\""), 1U);
  EXPECT_EQ(tracer_->counters().exported, 1U);
  EXPECT_EQ(tracer_->counters().waiting, 0U);
}

TEST_F(TracerTest, AFewSpansAreSentAfterAWhileWithoutBeingAsked) {
  ScriptedServer server(collect());
  make(settings_for(server));
  loop_.post([this] { tracer_->add(span()); });
  std::function<void()> look = [&] {
    if (tracer_->counters().exported == 1) return loop_.stop();
    loop_.post(look);
  };
  loop_.post(look);
  loop_.run();
  EXPECT_EQ(bodies_.size(), 1U);
}

TEST_F(TracerTest, ManySpansGoInBatchesAndWhatDoesNotFitIsCounted) {
  ScriptedServer server(collect());
  Settings settings = settings_for(server);
  settings.batch_max = 4;
  settings.queue_max = 10;
  make(settings);
  loop_.post([this] {
    for (int i = 0; i < 20; ++i) tracer_->add(span());
  });
  flush();
  // The first four leave at once; ten wait; six are dropped.
  EXPECT_EQ(tracer_->counters().dropped, 6U);
  EXPECT_EQ(tracer_->counters().exported, 14U);
  ASSERT_EQ(bodies_.size(), 4U);
  EXPECT_EQ(count(bodies_[0], "\"spanId\""), 4U);
  EXPECT_EQ(count(bodies_[3], "\"spanId\""), 2U);
}

TEST_F(TracerTest, ACollectorThatRefusesCostsTheSpansAndIsComplainedOfOnce) {
  ScriptedServer server(collect("{}", "400 Bad Request"));
  Settings settings = settings_for(server);
  settings.batch_max = 1;
  make(settings);
  for (int i = 0; i < 3; ++i) tracer_->add(span());
  flush();
  EXPECT_EQ(tracer_->counters().refused, 3U);
  EXPECT_EQ(tracer_->counters().exported, 0U);
  EXPECT_EQ(complaints_, std::vector<std::string>{"spans are lost: upstream 'trace collector': it answered 400 Bad Request"});
}

TEST_F(TracerTest, APartlyTakenBatchIsCountedAsSuch) {
  ScriptedServer server(collect(R"({"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}})"));
  make(settings_for(server));
  tracer_->add(span());
  tracer_->add(span());
  flush();
  EXPECT_EQ(tracer_->counters().exported, 1U);
  EXPECT_EQ(tracer_->counters().refused, 1U);
}

TEST_F(TracerTest, ACollectorThatIsNotThereDoesNotHoldUpTheEnd) {
  ScriptedServer server([](Peer& peer) {
    peer.read_request();
    peer.wait_closed();
  });
  make(settings_for(server));
  tracer_->add(span());
  loop_.post([this] { tracer_->flush(20ms, [this] { loop_.stop(); }); });
  loop_.run();
  EXPECT_EQ(tracer_->counters().exported, 0U);
}

TEST_F(TracerTest, OnlySampledTracesAreRecorded) {
  ScriptedServer server(collect());
  Settings settings = settings_for(server);
  settings.sample = 0.25;
  make(settings);
  std::size_t sampled = 0;
  Random random(3);
  for (int i = 0; i < 1000; ++i) sampled += tracer_->begin(Uuid::make(1, random)).sampled ? 1U : 0U;
  EXPECT_NEAR(static_cast<double>(sampled), 250.0, 5 * 13.7) << "five standard deviations";
  Span unsampled = span();
  unsampled.context.sampled = false;
  tracer_->add(unsampled);
  EXPECT_EQ(tracer_->counters().waiting, 0U);
}

TEST_F(TracerTest, AChildStandsInItsParentsTrace) {
  make({});
  const Context parent = *parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1");
  const Context child = tracer_->child_of(parent);
  EXPECT_EQ(child.trace, parent.trace);
  EXPECT_NE(child.span, parent.span);
  EXPECT_TRUE(child.sampled);
  EXPECT_EQ(child.state, "a=1");
  EXPECT_FALSE(tracer_->enabled());
  EXPECT_FALSE(tracer_->begin(Uuid{1, 2}).sampled);
  tracer_->add(span());
  flush();
}

}  // namespace
}  // namespace margin::trace
