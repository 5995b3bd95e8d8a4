// Idempotency-Key: a request that is sent again does nothing twice. Shared by the handlers that change something.
#pragma once

#include <optional>

#include "log/event_log.h"
#include "server/app.h"

namespace margin::server {

inline constexpr std::size_t kIdempotencyKeyBytesMax = 255;

// A request's key and body, as digests.
struct GivenMark {
  RequestMark mark;
  RequestMark earlier;  // as a store has it from when all API keys of a tenant shared their Idempotency-Keys
};
// nullopt without the header. An Idempotency-Key is the API key's own: another may be of another weight, so that what it said is not the
// same, nor is its decision another's to read. Where no key is configured all requests share theirs.
[[nodiscard]] std::optional<GivenMark> request_mark(const Call& call);

struct Repeated {
  enum Kind { kNew, kSame, kOtherBody, kUnderWay } kind = kNew;
  Uuid event;                           // what it became, unless it is new
  service::ServedPool* pool = nullptr;  // that remembers it, unless it is new
};
// A key is one for all pools that the caller sees.
[[nodiscard]] Repeated seen_before(App& app, const Caller& caller, const GivenMark& mark);

[[nodiscard]] http::Response idempotency_conflict();
[[nodiscard]] http::Response idempotency_under_way();

// A full queue is the server's trouble, not the request's.
[[nodiscard]] Error overloaded(Error error);

}  // namespace margin::server
