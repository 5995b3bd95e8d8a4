// Ollama's own chat protocol (/api/chat) and OpenAI's, each in the other's words. Text in, text out; used by Upstream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "margin/result.h"

namespace margin::upstream {

// OpenAI's request for Ollama. Sampling settings move into "options", response_format becomes "format", texts and pictures of a message
// are told apart; members that OpenAI does not have (think, keep_alive, options) are passed on. kInvalidArgument: not a chat request, or
// it asks for what Ollama cannot do (n above 1, pictures by address); the message names the field.
[[nodiscard]] Result<std::string> ollama_request(JsonParser& parser, std::string_view body);

// A whole reply of Ollama as OpenAI's. kInvalidArgument: it is none.
[[nodiscard]] Result<std::string> openai_reply(JsonParser& parser, std::string_view body);

// The lines of a streamed reply, as OpenAI's chunks.
class OllamaStream {
 public:
  // `with_usage`: the request said stream_options.include_usage.
  void start(bool with_usage) { *this = OllamaStream(), with_usage_ = with_usage; }
  // The chunks that a line makes; an {"error"} line becomes OpenAI's error frame. kInvalidArgument: no line of a chat reply.
  [[nodiscard]] Result<std::vector<std::string>> add(JsonParser& parser, std::string_view line);
  // The last line has come.
  [[nodiscard]] bool done() const { return done_; }

 private:
  bool with_usage_ = false;
  bool began_ = false;
  bool called_tools_ = false;
  bool done_ = false;
};

}  // namespace margin::upstream
