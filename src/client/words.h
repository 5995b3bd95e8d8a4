// A server's answers as a person reads them. Used by the commands that ask a running server.
#pragma once

#include <string>
#include <string_view>

namespace margin::client {

// The body of an answer to /v1/decide, /v1/feedback or /v1/decisions/{decision}/texts in a few lines; empty when it is not what that route
// answers.
[[nodiscard]] std::string decision_words(std::string_view json);
[[nodiscard]] std::string receipt_words(std::string_view json);
[[nodiscard]] std::string erasure_words(std::string_view json);
// The message of {"error":{"message",...}}, or the body itself where it is something else.
[[nodiscard]] std::string error_words(std::string_view json);

}  // namespace margin::client
