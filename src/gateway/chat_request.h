// ChatRequest: a chat completion request in OpenAI's shape, taken apart so that what is forwarded stays byte for byte what the client
// wrote. Used by the chat handler and by Chat.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elicit/elicit.h"
#include "json/json.h"
#include "margin/result.h"

namespace margin::gateway {

// Of a task's id, as long as names may be.
inline constexpr std::size_t kTaskBytesMax = 256;
// "got 300 bytes, expected at most 256"
[[nodiscard]] std::string task_too_long(std::size_t bytes);

// What the request's own object "margin" asks for.
struct ChatOptions {
  std::string task_id;
  std::string segment;
  std::string vote;
  std::optional<double> max_error;
  std::optional<elicit::Task> task;  // instead of the pool's
  bool candidates = false;           // include: what each model said and cost
  bool explanation = false;          // include: the whole decision
  bool raw = false;                  // include: the replies as they came
};

struct ChatRequest {
  std::string model;
  bool stream = false;
  bool include_usage = false;          // stream_options.include_usage
  double choices = 1.0;                // n
  std::optional<double> tokens_asked;  // max_completion_tokens or max_tokens
  std::string only_primary;            // why one model alone must answer: "tools", "images"; empty: it need not
  bool has_response_format = false;
  ChatOptions options;

  // As written by the client. `members` are all but model, messages, stream, stream_options and margin.
  std::vector<std::pair<std::string, std::string>> members;
  std::string stream_options;
  std::string messages;
  std::size_t leading_system = 0;  // byte in `messages` behind the system messages it begins with; 1: none
  bool messages_follow = false;    // whether something stands behind that byte
};

// What is wrong, in the terms of the one error shape.
[[nodiscard]] std::optional<Fault> read_chat_request(const Json& body, ChatRequest& request);

struct Rewriting {
  std::string_view model;
  const elicit::Template* asking = nullptr;  // none, or one without instructions: the messages stay byte for byte
  std::optional<double> temperature;         // replaces the client's
  bool stream = false;
};
// The body for an upstream.
[[nodiscard]] std::string body_for(const ChatRequest& request, const Rewriting& rewriting);

}  // namespace margin::gateway
