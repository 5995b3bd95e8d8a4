// Chat completions as OpenAI's clients expect them, whole or in chunks, with one object more: "margin". Used by the chat handlers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gateway/chat.h"
#include "margin/uuid.h"

namespace margin::server {

// A chat that has its answer, as any number of clients may be told.
struct FinishedChat {
  Uuid id;
  std::int64_t created_s = 0;
  std::string model;  // as the client named it
  gateway::ChatOptions options;
  gateway::Heard heard;  // with a decision
  std::uint64_t state_version = 0;

  [[nodiscard]] const gateway::Candidate& winner() const;
};

[[nodiscard]] std::string chat_id(Uuid decision);  // "chatcmpl-..."

[[nodiscard]] std::string render_chat(const FinishedChat& chat);
// The frames of a stream, from the first chunk to [DONE].
[[nodiscard]] std::string render_chat_stream(const FinishedChat& chat, bool include_usage);

// One frame: an error after the head of a stream was sent.
[[nodiscard]] std::string render_error_frame(std::string_view error_body);

}  // namespace margin::server
