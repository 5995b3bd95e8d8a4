// The spans of one chat as a collector gets them: names, kinds, parents and attributes.
#include "trace/chat_trace.h"

#include <gtest/gtest.h>

#include <map>

#include "upstream/testing.h"

namespace margin::trace {
namespace {

using upstream::Peer;
using upstream::ScriptedServer;

const std::string kCaller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
constexpr Uuid kDecision{0x0190aaaabbbb7ccc, 0x8ddd00001111eeee};

struct Seen {
  std::map<std::string, std::string> fields;      // of the span itself
  std::map<std::string, std::string> attributes;  // values in JSON
  std::map<std::string, std::string> event;       // attributes of its first event
};

std::map<std::string, std::string> read_attributes(const Json& list) {
  std::map<std::string, std::string> attributes;
  for (const Json& item : list.items()) {
    const bool fresh = attributes.emplace(item.find("key")->text(), item.find("value")->items()[0].raw()).second;
    EXPECT_TRUE(fresh) << item.find("key")->text() << " stands twice";
  }
  return attributes;
}

class ChatTraceTest : public testing::Test {
 protected:
  void make(bool enabled = true) {
    Settings settings;
    if (enabled) settings.url = "http://127.0.0.1:" + std::to_string(server_.port()) + "/v1/traces";
    auto made = Tracer::make(loop_, settings, {}, 1, nullptr);
    ASSERT_TRUE(made.ok());
    tracer_ = std::move(*made);
    openai_.name = "alpha";
    openai_.model = "gpt-x";
    openai_.url = "https://api.example/v1";
    openai_.key = "sk-hidden";
  }
  // Everything that was told, by its name.
  std::map<std::string, Seen> flush() {
    loop_.post([this] { tracer_->flush(upstream::kPatience, [this] { loop_.stop(); }); });
    loop_.run();
    std::map<std::string, Seen> spans;
    JsonParser parser(32);
    const auto root = parser.parse(body_);
    EXPECT_TRUE(root.ok()) << body_;
    if (!root.ok()) return spans;
    for (const Json& span : (*root)->find("resourceSpans")->items()[0].find("scopeSpans")->items()[0].find("spans")->items()) {
      Seen seen;
      for (const Json& member : span.items()) seen.fields[std::string(member.key())] = member.raw();
      seen.attributes = read_attributes(*span.find("attributes"));
      if (const Json* events = span.find("events")) {
        seen.fields["event"] = events->items()[0].find("name")->text();
        seen.event = read_attributes(*events->items()[0].find("attributes"));
      }
      spans[std::string(span.find("name")->text())] = seen;
    }
    return spans;
  }

  http::Loop loop_;
  std::string body_;
  ScriptedServer server_{[this](Peer& peer) {
    while (peer.read_request()) {
      body_ = peer.body;
      peer.reply("{}");
    }
  }};
  std::shared_ptr<Tracer> tracer_;
  upstream::Settings openai_;
};

TEST_F(ChatTraceTest, OneServerSpanAndOneClientSpanPerCall) {
  make();
  std::string told;
  {
    ChatTrace chat(
        tracer_, parse_traceparent(kCaller, "v=1"), kDecision,
        {.model = "margin/default",
         .stream = true,
         .members = {{"temperature", "0.5"}, {"max_tokens", "100"}, {"stop", R"(["a","b"])"}, {"seed", "\"odd\""}, {"tools", "[]"}}});
    const std::size_t call = chat.call(openai_);
    const Headers headers = chat.headers(call);
    ASSERT_EQ(headers.size(), 2U);
    EXPECT_EQ(headers[1], std::pair(std::string("tracestate"), std::string("v=1")));
    told = headers[0].second;
    upstream::Outcome outcome;
    outcome.status = 200;
    outcome.attempts = 2;
    outcome.first_byte = std::chrono::milliseconds(250);
    const upstream::ChatReply reply{.id = "chatcmpl-9",
                                    .model = "gpt-x-2024",
                                    .finish_reason = "stop",
                                    .usage = {.prompt_tokens = 12, .completion_tokens = 3, .total_tokens = 15, .reasoning_tokens = 2}};
    chat.ended(call, outcome, &reply);
    chat.attributes().set("margin.p_correct", 0.9);
    chat.finish({.id = "chatcmpl-d", .model = "alpha", .finish_reason = "stop", .usage = {.prompt_tokens = 12}});
  }
  auto spans = flush();
  ASSERT_EQ(spans.size(), 2U) << body_;
  Seen& server = spans["chat margin/default"];
  Seen& client = spans["chat gpt-x"];
  EXPECT_EQ(server.fields["kind"], "2");
  EXPECT_EQ(server.fields["traceId"], R"("4bf92f3577b34da6a3ce929d0e0e4736")");
  EXPECT_EQ(server.fields["parentSpanId"], R"("00f067aa0ba902b7")");
  EXPECT_EQ(server.fields["status"], "{}");
  EXPECT_EQ(client.fields["kind"], "3");
  EXPECT_EQ(client.fields["traceId"], server.fields["traceId"]);
  EXPECT_EQ(client.fields["parentSpanId"], server.fields["spanId"]);
  EXPECT_EQ("\"" + told.substr(36, 16) + "\"", client.fields["spanId"]) << "the upstream is told the span that calls it";
  EXPECT_LE(server.fields["startTimeUnixNano"], client.fields["startTimeUnixNano"]);
  EXPECT_LE(client.fields["endTimeUnixNano"], server.fields["endTimeUnixNano"]);

  const std::map<std::string, std::string> expected_client = {
      {"gen_ai.operation.name", R"("chat")"},
      {"gen_ai.provider.name", R"("openai")"},
      {"gen_ai.request.model", R"("gpt-x")"},
      {"gen_ai.request.stream", "true"},
      {"gen_ai.request.temperature", "0.5"},
      {"gen_ai.request.max_tokens", R"("100")"},
      {"gen_ai.request.stop_sequences", R"({"values":[{"stringValue":"a"},{"stringValue":"b"}]})"},
      {"gen_ai.response.id", R"("chatcmpl-9")"},
      {"gen_ai.response.model", R"("gpt-x-2024")"},
      {"gen_ai.response.finish_reasons", R"({"values":[{"stringValue":"stop"}]})"},
      {"gen_ai.response.time_to_first_chunk", "0.25"},
      {"gen_ai.usage.input_tokens", R"("12")"},
      {"gen_ai.usage.output_tokens", R"("3")"},
      {"gen_ai.usage.reasoning.output_tokens", R"("2")"},
      {"server.address", R"("api.example")"},
      {"server.port", R"("443")"},
      {"margin.model", R"("alpha")"},
      {"margin.attempts", R"("2")"}};
  EXPECT_EQ(client.attributes, expected_client);
  EXPECT_EQ(server.attributes["gen_ai.provider.name"], R"("margin")");
  EXPECT_EQ(server.attributes["gen_ai.request.model"], R"("margin/default")");
  EXPECT_EQ(server.attributes["gen_ai.response.id"], R"("chatcmpl-d")");
  EXPECT_EQ(server.attributes["gen_ai.response.model"], R"("alpha")");
  EXPECT_EQ(server.attributes["margin.p_correct"], "0.9");
  EXPECT_EQ(body_.find("hidden"), std::string::npos);
}

TEST_F(ChatTraceTest, WithoutACallerTheTraceIsTheDecisions) {
  make();
  { ChatTrace(tracer_, std::nullopt, kDecision, {.model = "m"}).finish({}); }
  auto spans = flush();
  EXPECT_EQ(spans["chat m"].fields["traceId"], R"("0190aaaabbbb7ccc8ddd00001111eeee")");
  EXPECT_FALSE(spans["chat m"].fields.contains("parentSpanId"));
}

TEST_F(ChatTraceTest, FailuresAreErrorsWithTheirType) {
  make();
  {
    ChatTrace chat(tracer_, std::nullopt, kDecision, {.model = "m"});
    for (const auto& [model, failure] :
         {std::pair("limited", upstream::Failure::kStatus), std::pair("slow", upstream::Failure::kTimeout)}) {
      openai_.model = model;
      upstream::Outcome outcome;
      outcome.failure = failure;
      outcome.status = 429;
      outcome.message = "upstream 'alpha': why";
      chat.ended(chat.call(openai_), outcome, nullptr);
    }
    openai_.model = "nonsense";
    chat.ended(chat.call(openai_), {}, nullptr);
    openai_.model = "late";
    chat.call(openai_);
    chat.finish({}, "insufficient_responses", "0 of 2 answered");
  }
  auto spans = flush();
  EXPECT_EQ(spans["chat limited"].attributes["error.type"], R"("429")");
  EXPECT_EQ(spans["chat limited"].fields["status"], R"({"code":2,"message":"upstream 'alpha': why"})");
  EXPECT_EQ(spans["chat slow"].attributes["error.type"], R"("timeout")");
  EXPECT_EQ(spans["chat nonsense"].attributes["error.type"], R"("malformed")");
  EXPECT_EQ(spans["chat late"].attributes["margin.cancelled"], "true") << "not needed is no error";
  EXPECT_EQ(spans["chat late"].fields["status"], "{}");
  EXPECT_EQ(spans["chat m"].attributes["error.type"], R"("insufficient_responses")");
  EXPECT_EQ(spans["chat m"].fields["status"], R"({"code":2,"message":"0 of 2 answered"})");
}

TEST_F(ChatTraceTest, WithoutACollectorTheCallersContextIsPassedOnAsItCame) {
  make(false);
  ChatTrace chat(tracer_, parse_traceparent(kCaller, "v=1"), kDecision, {.model = "m"});
  const Headers expected = {{"traceparent", kCaller}, {"tracestate", "v=1"}};
  EXPECT_EQ(chat.headers(chat.call(openai_)), expected);
  ChatTrace alone(tracer_, std::nullopt, kDecision, {.model = "m"});
  EXPECT_EQ(alone.headers(alone.call(openai_)), Headers{});
  EXPECT_EQ(tracer_->counters().waiting, 0U);
}

TEST_F(ChatTraceTest, ACallerThatDoesNotSampleIsNotRecorded) {
  make();
  std::string unsampled = kCaller;
  unsampled.back() = '0';
  { ChatTrace(tracer_, parse_traceparent(unsampled), kDecision, {.model = "m"}).finish({}); }
  EXPECT_EQ(tracer_->counters().waiting, 0U);
}

TEST_F(ChatTraceTest, FeedbackIsAnEvaluationInTheDecisionsTrace) {
  make();
  add_evaluation(*tracer_, std::nullopt,
                 {.decision = kDecision, .response_id = "chatcmpl-d", .source = "key-1", .grades = {{"alpha", 1.0}, {"beta", 0.0}}});
  auto spans = flush();
  Seen& span = spans["feedback"];
  EXPECT_EQ(span.fields["traceId"], R"("0190aaaabbbb7ccc8ddd00001111eeee")");
  EXPECT_EQ(span.fields["event"], "gen_ai.evaluation.result");
  const std::map<std::string, std::string> expected = {{"gen_ai.evaluation.name", R"("margin.feedback")"},
                                                       {"gen_ai.evaluation.score.value", "1"},
                                                       {"gen_ai.evaluation.score.label", R"("correct")"},
                                                       {"gen_ai.response.id", R"("chatcmpl-d")"},
                                                       {"margin.model", R"("alpha")"},
                                                       {"margin.feedback.source", R"("key-1")"}};
  EXPECT_EQ(span.event, expected);
}

}  // namespace
}  // namespace margin::trace
