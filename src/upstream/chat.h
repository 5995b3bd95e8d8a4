// Chat replies in OpenAI's shape, as values: a whole one, or one put together from the chunks of a stream. Used by the gateway.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/json.h"
#include "margin/result.h"

namespace margin::upstream {

struct Usage {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::uint64_t total_tokens = 0;
  std::uint64_t cached_tokens = 0;     // prompt_tokens_details.cached_tokens
  std::uint64_t reasoning_tokens = 0;  // completion_tokens_details.reasoning_tokens

  Usage& operator+=(const Usage& other);
  bool operator==(const Usage&) const = default;
};

struct ChatReply {
  std::string id;
  std::string model;  // as the upstream names it
  std::string content;
  std::string refusal;
  std::string finish_reason;  // "stop", "length", "tool_calls", "content_filter"; empty: none was given
  bool calls_tools = false;
  Usage usage;
};

// The first choice of a whole reply. kInvalidArgument: not of that shape; the message names the field. Numbers that make no sense in
// "usage" count as 0; a null content with a refusal or tool calls is empty text.
[[nodiscard]] Result<ChatReply> read_chat_reply(JsonParser& parser, std::string_view body);

// A stream's chunks, one after the other.
class ChatAssembler {
 public:
  // What the chunk adds to the first choice's content. Tolerates "choices": null or [] (the usage chunk). kInvalidArgument: not a chunk,
  // or an {"error": ...} frame, whose message is given.
  [[nodiscard]] Result<std::string> add(JsonParser& parser, std::string_view json);
  [[nodiscard]] const ChatReply& reply() const { return reply_; }

 private:
  ChatReply reply_;
};

}  // namespace margin::upstream
