#include "upstream/ollama.h"

#include <gtest/gtest.h>

#include "upstream/chat.h"

namespace margin::upstream {
namespace {

class Ollama : public testing::Test {
 protected:
  std::string request(std::string_view body) {
    const Result<std::string> translated = ollama_request(parser_, body);
    return translated.ok() ? *translated : translated.error().message;
  }
  std::string reply(std::string_view body) {
    const Result<std::string> translated = openai_reply(parser_, body);
    return translated.ok() ? *translated : translated.error().message;
  }
  JsonParser parser_{32};
};

TEST_F(Ollama, SettingsMoveIntoOptions) {
  EXPECT_EQ(request(R"({"model":"llama3","messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":"2+2?"}],
                        "temperature":0.20,"top_p":1,"seed":7,"max_tokens":10,"stop":"\n","user":"u","presence_penalty":null})"),
            R"({"model":"llama3","stream":false,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"2+2?"}],)"
            R"("options":{"temperature":0.20,"top_p":1,"seed":7,"num_predict":10,"stop":["\n"]}})");
  EXPECT_EQ(request(R"({"model":"m","messages":[],"stream":true,"max_tokens":1,"max_completion_tokens":2,"stop":["a","b"],
                        "options":{"num_ctx":4096,"temperature":0.5},"temperature":1,"think":true,"keep_alive":"5m"})"),
            R"({"model":"m","stream":true,"messages":[],"options":{"num_ctx":4096,"temperature":0.5,"num_predict":2,"stop":["a","b"]},)"
            R"("think":true,"keep_alive":"5m"})");
}

TEST_F(Ollama, ResponseFormatBecomesFormat) {
  EXPECT_EQ(request(R"({"model":"m","messages":[],"response_format":{"type":"json_object"}})"),
            R"({"model":"m","stream":false,"messages":[],"options":{},"format":"json"})");
  EXPECT_EQ(
      request(
          R"({"model":"m","messages":[],"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object"}}}})"),
      R"({"model":"m","stream":false,"messages":[],"options":{},"format":{"type":"object"}})");
  EXPECT_EQ(request(R"({"model":"m","messages":[],"response_format":{"type":"text"}})"),
            R"({"model":"m","stream":false,"messages":[],"options":{}})");
}

TEST_F(Ollama, PartsAreToldApart) {
  EXPECT_EQ(request(R"({"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"What"},{"type":"text","text":" is it?"},
                        {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}}]}]})"),
            R"({"model":"m","stream":false,"messages":[{"role":"user","content":"What is it?","images":["iVBO"]}],"options":{}})");
  EXPECT_EQ(request(R"({"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"http://x/a.png"}}]}]})"),
            "messages[0].content: Ollama takes pictures only as data: URLs in base64");
}

TEST_F(Ollama, ToolCallsHaveTheirArgumentsAsObjects) {
  EXPECT_EQ(
      request(R"({"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",
                        "function":{"name":"add","arguments":"{\"a\": 1}"}}]},{"role":"tool","name":"add","tool_call_id":"c","content":"3"}],
                        "tools":[{"type":"function"}]})"),
      R"({"model":"m","stream":false,"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"a": 1}}}]},)"
      R"({"role":"tool","content":"3","tool_name":"add"}],"options":{},"tools":[{"type":"function"}]})");
}

TEST_F(Ollama, WhatItCannotDoIsRefusedByName) {
  EXPECT_EQ(request(R"({"model":"m"})"), "messages is missing, expected a list");
  EXPECT_EQ(request(R"({"model":"m","messages":[],"n":2})"), "n is above 1, which Ollama cannot do");
  EXPECT_EQ(request(R"({"model":"m","messages":[{"content":"a"}]})"), "messages[0].role is missing, expected text");
  EXPECT_EQ(request(R"({"model":"m","messages":[{"role":"user","content":7}]})"),
            "messages[0].content is a number, expected text or a list of parts");
  EXPECT_FALSE(ollama_request(parser_, "[").ok());
}

// The example of Ollama's own description of /api/chat.
TEST_F(Ollama, AReplyIsPutIntoOpenAisShape) {
  EXPECT_EQ(reply(R"({"model":"llama3.2","created_at":"2023-12-12T14:13:43.416799Z","message":{"role":"assistant","content":"Hello!"},
                      "done":true,"done_reason":"stop","total_duration":5191566416,"prompt_eval_count":26,"eval_count":298})"),
            R"({"id":"chatcmpl-ollama-1702390423","object":"chat.completion","created":1702390423,"model":"llama3.2",)"
            R"("choices":[{"index":0,"message":{"role":"assistant","content":"Hello!"},"finish_reason":"stop"}],)"
            R"("usage":{"prompt_tokens":26,"completion_tokens":298,"total_tokens":324}})");
}

TEST_F(Ollama, ToolCallsAndLengthAreFinishReasons) {
  const std::string called =
      reply(R"({"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"city":"Paris"}}}]},"done":true})");
  EXPECT_NE(called.find(
                R"("tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"f","arguments":"{\"city\":\"Paris\"}"}}])"),
            std::string::npos)
      << called;
  EXPECT_NE(called.find(R"("finish_reason":"tool_calls")"), std::string::npos);
  EXPECT_NE(reply(R"({"message":{"content":"a"},"done":true,"done_reason":"length"})").find(R"("finish_reason":"length")"),
            std::string::npos);
}

TEST_F(Ollama, HostileRepliesAreRefused) {
  EXPECT_EQ(reply(R"({"message":"hi"})"), "message is missing, expected an object");
  EXPECT_EQ(reply(R"({"message":{"content":["a"]}})"), "message.content is a list, expected text");
  EXPECT_FALSE(openai_reply(parser_, "<html>").ok());
  EXPECT_NE(reply(R"({"created_at":"9999-99-99T99:99:99Z","message":{"content":"a"},"eval_count":-5,"prompt_eval_count":"x"})")
                .find(R"("created":0,)"),
            std::string::npos);
}

TEST_F(Ollama, AStreamBeginsWithTheRoleAndEndsWithReasonAndUsage) {
  OllamaStream stream;
  stream.start(true);
  ChatAssembler assembler;
  std::vector<std::string> all;
  for (const std::string_view line :
       {R"({"model":"l","message":{"content":"Pa"},"done":false})", R"({"model":"l","message":{"content":"ris"},"done":false})",
        R"({"model":"l","message":{"content":""},"done":true,"done_reason":"stop","eval_count":2})"}) {
    EXPECT_FALSE(stream.done());
    const Result<std::vector<std::string>> chunks = stream.add(parser_, line);
    ASSERT_TRUE(chunks.ok()) << chunks.error().message;
    all.insert(all.end(), chunks->begin(), chunks->end());
  }
  EXPECT_TRUE(stream.done());
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0], R"({"id":"chatcmpl-ollama-0","object":"chat.completion.chunk","created":0,"model":"l",)"
                    R"("choices":[{"index":0,"delta":{"role":"assistant","content":"Pa"},"finish_reason":null}]})");
  EXPECT_EQ(all[3], R"({"id":"chatcmpl-ollama-0","object":"chat.completion.chunk","created":0,"model":"l","choices":[],)"
                    R"("usage":{"prompt_tokens":0,"completion_tokens":2,"total_tokens":2}})");
  for (const std::string& chunk : all) ASSERT_TRUE(assembler.add(parser_, chunk).ok()) << chunk;
  EXPECT_EQ(assembler.reply().content, "Paris");
  EXPECT_EQ(assembler.reply().finish_reason, "stop");
}

TEST_F(Ollama, AnErrorLineEndsTheStreamAsAnErrorFrame) {
  OllamaStream stream;
  stream.start(false);
  const Result<std::vector<std::string>> chunks = stream.add(parser_, R"({"error":"out of memory"})");
  ASSERT_TRUE(chunks.ok());
  EXPECT_EQ(*chunks, std::vector<std::string>{R"({"error":{"message":"out of memory","type":"upstream_error","param":null,"code":null}})"});
  EXPECT_TRUE(stream.done());
  EXPECT_FALSE(stream.add(parser_, R"({"half":)").ok());
}

}  // namespace
}  // namespace margin::upstream
