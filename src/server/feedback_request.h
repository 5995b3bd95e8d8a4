// What a feedback's body says, read and checked. Used by the handlers of feedback.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/json.h"
#include "margin/event.h"
#include "server/caller.h"
#include "trace/context.h"

namespace margin::server {

struct FeedbackRequest {
  std::string pool;  // where it waits if its decision is not known; empty: default
  bool replace = false;
  std::string observed_at;
  std::optional<trace::Context> traced;  // the trace that sent it
  OutcomeObserved outcome;
};

// Weight and source are the caller's, whatever the body says.
[[nodiscard]] std::optional<Fault> read_feedback(const Json& body, const Caller& caller, FeedbackRequest& given);

}  // namespace margin::server
