// Idempotency-Key: a request that is sent again does nothing twice. Shared by the handlers that change something.
#pragma once

#include <optional>

#include "log/event_log.h"
#include "server/routes.h"
#include "service/service.h"

namespace margin::server {

inline constexpr std::size_t kIdempotencyKeyBytesMax = 255;

// The request's key and body, as digests; nullopt without the header.
[[nodiscard]] std::optional<RequestMark> request_mark(const Call& call);

struct Repeated {
  enum Kind { kNew, kSame, kOtherBody, kUnderWay } kind = kNew;
  Uuid event;                           // what it became, for kSame
  service::ServedPool* pool = nullptr;  // that remembers it, unless it is new
};
// A key is one for all pools of a tenant.
[[nodiscard]] Repeated seen_before(const service::Service& service, const Caller& caller, const RequestMark& mark);

[[nodiscard]] http::Response idempotency_conflict();
[[nodiscard]] http::Response idempotency_under_way();

// A full queue is the server's trouble, not the request's.
[[nodiscard]] Error overloaded(Error error);

}  // namespace margin::server
