// What is done with a feedback that was read: it waits its turn, is compared with what was said before, and is written, or answered
// without. Used by the handlers of feedback.
#pragma once

#include <functional>
#include <optional>

#include "server/app.h"
#include "server/feedback_request.h"
#include "server/idempotency.h"

namespace margin::server {

// Hears the JSON of a receipt, or a refusal, once.
using Answered = std::function<void(http::Response)>;

// Feedback of one decision is taken in the order of the calls, each when the one before was applied or has failed.
void take_feedback(App& app, const Caller& caller, FeedbackRequest given, std::optional<GivenMark> mark, Answered answered);

}  // namespace margin::server
