// A chat to a pool from its start to its record in the log. Used by the chat handler and by the demonstration.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/chat_request.h"
#include "server/app.h"
#include "server/chat_desk.h"
#include "trace/context.h"

namespace margin::server {

// Whose chat it is.
struct ChatOrigin {
  std::string key;                         // of the ledger
  std::string source;                      // noted with the decision
  std::optional<RequestMark> mark{};       // by which a repetition is known
  std::optional<trace::Context> traced{};  // the trace it is part of
};

// Asks the pool's models. Clients join what is returned; the decision is in the log before they hear of it (shadow: soon after).
std::shared_ptr<ChatExchange> run_pool_chat(App& app, service::ServedPool& pool, const config::PoolSettings& settings,
                                            gateway::ChatRequest request, config::Strategy strategy, ChatOrigin origin);

// The client's own retry would only repeat a paid round of questions.
[[nodiscard]] http::Response final_refusal(int status, std::string_view code, std::string_view message, std::string_view param = {});

}  // namespace margin::server
