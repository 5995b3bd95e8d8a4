#include "upstream/chat.h"

#include <gtest/gtest.h>

namespace margin::upstream {
namespace {

class Chat : public testing::Test {
 protected:
  std::string error_of(std::string_view body) {
    const Result<ChatReply> reply = read_chat_reply(parser_, body);
    return reply.ok() ? "accepted" : reply.error().message;
  }
  JsonParser parser_{32};
};

TEST_F(Chat, AWholeReplyIsRead) {
  const Result<ChatReply> reply = read_chat_reply(parser_, R"({
    "id":"chatcmpl-1","object":"chat.completion","created":1731702000,"model":"gpt-x-2024",
    "choices":[{"index":0,"message":{"role":"assistant","content":"Paris","refusal":null},"logprobs":null,"finish_reason":"stop"}],
    "usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":8},
             "completion_tokens_details":{"reasoning_tokens":2}},"system_fingerprint":"f"})");
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->id, "chatcmpl-1");
  EXPECT_EQ(reply->model, "gpt-x-2024");
  EXPECT_EQ(reply->content, "Paris");
  EXPECT_EQ(reply->finish_reason, "stop");
  EXPECT_FALSE(reply->calls_tools);
  const Usage usage{.prompt_tokens = 12, .completion_tokens = 3, .total_tokens = 15, .cached_tokens = 8, .reasoning_tokens = 2};
  EXPECT_EQ(reply->usage, usage);
  Usage sum = usage;
  sum += usage;
  EXPECT_EQ(sum, (Usage{.prompt_tokens = 24, .completion_tokens = 6, .total_tokens = 30, .cached_tokens = 16, .reasoning_tokens = 4}));
}

TEST_F(Chat, ContentMayBeAbsentOnlyWithARefusalOrToolCalls) {
  const Result<ChatReply> calls = read_chat_reply(
      parser_,
      R"({"choices":[{"message":{"content":null,"tool_calls":[{"id":"c","function":{"name":"f"}}]},"finish_reason":"tool_calls"}]})");
  ASSERT_TRUE(calls.ok()) << calls.error().message;
  EXPECT_TRUE(calls->calls_tools);
  EXPECT_EQ(calls->content, "");
  const Result<ChatReply> refusal = read_chat_reply(parser_, R"({"choices":[{"message":{"refusal":"I cannot"}}]})");
  ASSERT_TRUE(refusal.ok()) << refusal.error().message;
  EXPECT_EQ(refusal->refusal, "I cannot");
  EXPECT_EQ(error_of(R"({"choices":[{"message":{"content":null}}]})"), "choices[0].message.content is missing, expected text");
}

TEST_F(Chat, ContentMayBeAListOfParts) {
  const Result<ChatReply> reply =
      read_chat_reply(parser_, R"({"choices":[{"message":{"content":[{"type":"text","text":"Pa"},{"type":"text","text":"ris"}]}}]})");
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->content, "Paris");
}

TEST_F(Chat, UsageThatMakesNoSenseCountsAsNothing) {
  for (const char* const tokens : {"-1", "1.5", "1e300", "\"3\"", "null", "99999999999999999999999", "{}"}) {
    const std::string body = R"({"choices":[{"message":{"content":""}}],"usage":{"prompt_tokens":)" + std::string(tokens) + "}}";
    const Result<ChatReply> reply = read_chat_reply(parser_, body);
    ASSERT_TRUE(reply.ok()) << body;
    EXPECT_EQ(reply->usage, Usage{}) << body;
  }
}

TEST_F(Chat, WhatIsNoReplyIsRefusedAndTheFieldNamed) {
  EXPECT_EQ(error_of(R"([])"), "the reply is a list, expected an object");
  EXPECT_EQ(error_of(R"({})"), "choices is missing or empty, expected a list of at least one choice");
  EXPECT_EQ(error_of(R"({"choices":[]})"), "choices is missing or empty, expected a list of at least one choice");
  EXPECT_EQ(error_of(R"({"choices":{"0":1}})"), "choices is missing or empty, expected a list of at least one choice");
  EXPECT_EQ(error_of(R"({"choices":[7]})"), "choices[0].message is missing, expected an object");
  EXPECT_EQ(error_of(R"({"choices":[{"message":{"content":7}}]})"), "choices[0].message.content is a number, expected text");
  EXPECT_EQ(error_of(R"({"choices":[{"message":{"content":""},"finish_reason":[]}]})"),
            "choices[0].finish_reason is a list, expected text");
  EXPECT_EQ(error_of(R"({"model":7})"), "model is a number, expected text");
  EXPECT_EQ(error_of(R"({"error":{"message":"overloaded"}})"), "the reply is an error: overloaded");
  for (const std::string_view text : {"", "{\"choices\":", "{\"a\":1,\"a\":2}", "\xFF", "<html>"})
    EXPECT_NE(error_of(text), "accepted") << text;
  EXPECT_NE(error_of(std::string(100'000, '[')), "accepted") << "too deep";
}

TEST_F(Chat, AStreamIsPutTogether) {
  ChatAssembler assembler;
  std::string heard;
  for (const std::string_view chunk :
       {R"({"id":"c1","model":"g","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null})",
        R"({"id":"c1","model":"g","choices":[{"index":0,"delta":{"content":"Pa"}},{"index":1,"delta":{"content":"other"}}]})",
        R"({"id":"c1","model":"g","choices":[{"index":0,"delta":{"content":"ris"}}]})",
        R"({"id":"c1","model":"g","choices":[{"index":0,"delta":{},"finish_reason":"length"}]})",
        R"({"id":"c1","model":"g","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}})",
        R"({"id":"c1","model":"g","choices":null})"}) {
    const Result<std::string> added = assembler.add(parser_, chunk);
    ASSERT_TRUE(added.ok()) << added.error().message;
    heard += *added;
  }
  EXPECT_EQ(heard, "Paris");
  EXPECT_EQ(assembler.reply().content, "Paris");
  EXPECT_EQ(assembler.reply().id, "c1");
  EXPECT_EQ(assembler.reply().model, "g");
  EXPECT_EQ(assembler.reply().finish_reason, "length");
  EXPECT_EQ(assembler.reply().usage.total_tokens, 7U);
}

TEST_F(Chat, AToolCallInAStreamIsSeen) {
  ChatAssembler assembler;
  ASSERT_TRUE(assembler.add(parser_, R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}}]})").ok());
  EXPECT_TRUE(assembler.reply().calls_tools);
}

TEST_F(Chat, AnErrorFrameIsAnError) {
  ChatAssembler assembler;
  EXPECT_EQ(assembler.add(parser_, R"({"error":{"message":"out of memory","code":500}})").error().message,
            "the reply is an error: out of memory");
  EXPECT_EQ(assembler.add(parser_, R"({"error":"plain"})").error().message, "the reply is an error: plain");
  EXPECT_EQ(assembler.add(parser_, R"({"choices":7})").error().message, "choices is a number, expected a list");
  EXPECT_FALSE(assembler.add(parser_, "half {").ok());
}

}  // namespace
}  // namespace margin::upstream
