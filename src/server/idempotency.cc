#include "server/idempotency.h"

namespace margin::server {

std::optional<RequestMark> request_mark(const Call& call) {
  const auto key = call.request.header("Idempotency-Key");
  if (!key || key->empty()) return std::nullopt;
  // The length keeps a tenant's name and a key from running into each other.
  const std::string scoped = std::to_string(call.caller.tenant.size()) + ":" + call.caller.tenant + std::string(*key);
  return RequestMark{digest_of(scoped), digest_of(std::string(call.request.path) + "\n" + std::string(call.request.body))};
}

Repeated seen_before(const service::Service& service, const Caller& caller, const RequestMark& mark) {
  Repeated found;
  for (const auto& [name, pool] : service.pools()) {
    if (!caller.owns(name)) continue;
    const service::RequestMemory::Known* known = pool->requests().find(mark.key);
    if (known == nullptr) continue;
    if (known->body == mark.body) return {known->settled ? Repeated::kSame : Repeated::kUnderWay, known->event, pool.get()};
    found = {Repeated::kOtherBody, {}, pool.get()};
  }
  return found;
}

http::Response idempotency_conflict() {
  return refusal(422, "idempotency_key_reused", "Idempotency-Key: was used with another body, expected one key per request");
}

http::Response idempotency_under_way() {
  return refusal(503, "request_under_way", "Idempotency-Key: the first request with this key is not answered yet, try again soon");
}

Error overloaded(Error error) {
  if (error.code == ErrorCode::kLimit) error.code = ErrorCode::kUnavailable;
  return error;
}

}  // namespace margin::server
