// The line that a request leaves in the operator's log where `log.requests` asks for one. Never a path as it was sent, a body or a secret.
#pragma once

#include <string>
#include <string_view>

#include "config/config.h"
#include "http/message.h"
#include "journal/journal.h"
#include "margin/uuid.h"
#include "server/answer.h"

namespace margin::server {

// What the client calls it in X-Request-Id, when that is 1 to 128 letters, digits and "._:-"; else the text of `fresh`.
[[nodiscard]] std::string request_id(const http::Request& request, Uuid fresh);

struct RequestFacts {
  std::string_view method;
  std::string_view path;  // the route's pattern
  std::string_view id;
  Answer::Sent sent;
};
void log_request(journal::Journal& journal, config::LoggedRequests logged, const RequestFacts& request);

}  // namespace margin::server
