// The spans of chats and of feedback: what the handlers know, in the terms of trace/. Everything here does nothing when no collector is
// configured but to pass the client's own trace on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/chat_request.h"
#include "http/message.h"
#include "margin/event.h"
#include "server/app.h"
#include "server/render_chat.h"
#include "trace/chat_trace.h"

namespace margin::server {

// The trace that the client's headers name.
[[nodiscard]] std::optional<trace::Context> caller_context(const http::Request& request);

// `id`: of the decision, or any new one.
[[nodiscard]] std::shared_ptr<trace::ChatTrace> begin_trace(App& app, const std::optional<trace::Context>& caller, Uuid id,
                                                            const gateway::ChatRequest& request);

void finish_trace(trace::ChatTrace& trace, const FinishedChat& chat);
void fail_trace(trace::ChatTrace& trace, const http::Response& refusal);

// Feedback that was recorded.
void trace_feedback(App& app, const std::optional<trace::Context>& caller, const OutcomeObserved& outcome);

}  // namespace margin::server
