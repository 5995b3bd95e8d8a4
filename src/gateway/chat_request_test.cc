// What of a client's request is read, refused and passed on, byte for byte where nothing is asked for.
#include "gateway/chat_request.h"

#include <gtest/gtest.h>

namespace margin::gateway {
namespace {

std::optional<Fault> read(std::string_view text, ChatRequest& request) {
  JsonParser parser(32);
  const auto parsed = parser.parse(text);
  EXPECT_TRUE(parsed.ok());
  return read_chat_request(**parsed, request);
}

ChatRequest good(std::string_view text) {
  ChatRequest request;
  const auto fault = read(text, request);
  EXPECT_FALSE(fault.has_value()) << (fault ? fault->message : "");
  return request;
}

std::string refused(std::string_view text) {
  ChatRequest request;
  const auto fault = read(text, request);
  return fault ? fault->param : "was accepted";
}

// Whatever the client wrote: spaces, escapes, long numbers, members nobody knows.
constexpr std::string_view kRequest =
    R"({"model":"margin/p", "messages" : [ {"role":"user","content":"caf\u00e9  \n"} ],"temperature":0.70,"logit_bias":{"12345678901234567890":-1E+2},)"
    R"("x-new": [1 , {"a":null}],"max_tokens": 5,"seed":1.0})";

TEST(ChatRequest, WithoutElicitationEverythingIsPassedOnByteForByte) {
  const ChatRequest request = good(kRequest);
  EXPECT_EQ(body_for(request, {.model = "up"}),
            R"({"model":"up","messages":[ {"role":"user","content":"caf\u00e9  \n"} ],"temperature":0.70,)"
            R"("logit_bias":{"12345678901234567890":-1E+2},"x-new":[1 , {"a":null}],"max_tokens":5,"seed":1.0})");
  EXPECT_EQ(request.tokens_asked, 5.0);
  EXPECT_EQ(body_for(request, {.model = "up", .asking = &elicit::find_template(elicit::Task::kChoice, elicit::Mode::kOff)}),
            body_for(request, {.model = "up"}));
}

TEST(ChatRequest, TheInstructionsStandBehindTheLeadingSystemMessages) {
  const elicit::Template asking{.name = "t", .instructions = "say \"B\""};
  const auto body = [&](std::string_view messages) {
    return body_for(good(R"({"model":"m","messages":)" + std::string(messages) + "}"), {.model = "u", .asking = &asking});
  };
  const std::string said = R"({"role":"system","content":"say \"B\""})";
  EXPECT_EQ(body(R"([{"role":"user"}])"), R"({"model":"u","messages":[)" + said + R"(,{"role":"user"}]})");
  EXPECT_EQ(body(R"([{"role":"system"},{"role":"user"},{"role":"system"}])"),
            R"({"model":"u","messages":[{"role":"system"},)" + said + R"(,{"role":"user"},{"role":"system"}]})");
  EXPECT_EQ(body(R"([ {"role":"developer"} ])"), R"({"model":"u","messages":[ {"role":"developer"},)" + said + " ]}");
}

TEST(ChatRequest, ASchemaReplacesTheClientsFormatAndSamplesItsTemperature) {
  const elicit::Template asking{.name = "t", .instructions = "i", .response_format = R"({"type":"json_schema"})"};
  const ChatRequest request = good(R"({"model":"m","messages":[{"role":"user"}],"temperature":1,"response_format":{"type":"text"}})");
  EXPECT_TRUE(request.has_response_format);
  const std::string body = body_for(request, {.model = "u", .asking = &asking, .temperature = 0.7});
  EXPECT_NE(body.find(R"("response_format":{"type":"json_schema"},"temperature":0.7})"), std::string::npos) << body;
  EXPECT_EQ(body.find(R"("temperature":1)"), std::string::npos);
}

TEST(ChatRequest, WhatOneModelMustAnswerAloneIsNoticed) {
  const auto why = [](std::string_view rest) { return good(R"({"model":"m",)" + std::string(rest) + "}").only_primary; };
  EXPECT_EQ(why(R"("messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}])"), "tools");
  EXPECT_EQ(why(R"("messages":[{"role":"user","content":"x"}],"tools":[])"), "");
  EXPECT_EQ(why(R"("messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url"}]}])"), "images");
  EXPECT_EQ(why(R"("messages":[{"role":"user","content":[{"type":"text","text":"x"}]}])"), "");
}

TEST(ChatRequest, FaultsNameTheirField) {
  EXPECT_EQ(refused(R"({"messages":[{"role":"user"}]})"), "model");
  EXPECT_EQ(refused(R"({"model":"","messages":[{"role":"user"}]})"), "model");
  EXPECT_EQ(refused(R"({"model":"m"})"), "messages");
  EXPECT_EQ(refused(R"({"model":"m","messages":[]})"), "messages");
  EXPECT_EQ(refused(R"({"model":"m","messages":[7]})"), "messages[0]");
  EXPECT_EQ(refused(R"({"model":"m","messages":[{"role":"user"},{"role":1}]})"), "messages[1].role");
  const auto with = [](std::string_view member) {
    return refused(R"({"model":"m","messages":[{"role":"user"}],)" + std::string(member) + "}");
  };
  EXPECT_EQ(with(R"("stream":1)"), "stream");
  EXPECT_EQ(with(R"("n":"2")"), "n");
  EXPECT_EQ(with(R"("max_tokens":"2")"), "max_tokens");
  EXPECT_EQ(with(R"("stream_options":true)"), "stream_options");
  EXPECT_EQ(with(R"("margin":{"includ":[]})"), "margin.includ");
  EXPECT_EQ(with(R"("margin":{"include":["all"]})"), "margin.include");
  EXPECT_EQ(with(R"("margin":{"max_error":1})"), "margin.max_error");
  EXPECT_EQ(with(R"("margin":{"task":"chioce"})"), "margin.task");
  EXPECT_EQ(with(R"("margin":null,"stream":null)"), "was accepted");
}

}  // namespace
}  // namespace margin::gateway
