#include "server/idempotency.h"

#include "server/sources.h"

namespace margin::server {
namespace {

Repeated find_mark(const service::Service& service, const Caller& caller, const RequestMark& mark) {
  Repeated found;
  for (const auto& [name, pool] : service.pools()) {
    if (!caller.owns(name)) continue;
    const service::RequestMemory::Known* known = pool->requests().find(mark.key);
    if (known == nullptr) continue;
    if (known->body == mark.body) return {known->settled ? Repeated::kSame : Repeated::kUnderWay, known->event, pool.get()};
    found = {Repeated::kOtherBody, known->event, pool.get()};
  }
  return found;
}

// Whether the log says that it was the caller who asked for this.
bool is_callers(App& app, const Caller& caller, service::ServedPool& pool, Uuid event) {
  const auto record = app.service().look_up(pool, event);
  if (!record || !*record) return false;
  if (const auto* outcome = std::get_if<OutcomeObserved>(&(*record)->event.body)) return is_own(app.keys(), caller, outcome->source);
  // A decision is noted with its source; an erasure adds to that.
  const std::string_view note = (*record)->note;
  return is_own(app.keys(), caller, note.substr(0, note.find(';')));
}

}  // namespace

std::optional<GivenMark> request_mark(const Call& call) {
  const auto key = call.request.header("Idempotency-Key");
  if (!key || key->empty()) return std::nullopt;
  const Digest body = digest_of(std::string(call.request.path) + "\n" + std::string(call.request.body));
  // The length keeps a tenant's name and a key from running into each other.
  const std::string shared = std::to_string(call.caller.tenant.size()) + ":" + call.caller.tenant + std::string(*key);
  const RequestMark earlier{digest_of(shared), body};
  if (call.caller.key.empty()) return GivenMark{earlier, earlier};
  return GivenMark{{digest_of(call.caller.key + "\n" + shared), body}, earlier};
}

Repeated seen_before(App& app, const Caller& caller, const GivenMark& mark) {
  const Repeated found = find_mark(app.service(), caller, mark.mark);
  if (found.kind != Repeated::kNew || mark.earlier == mark.mark) return found;
  const Repeated earlier = find_mark(app.service(), caller, mark.earlier);
  return earlier.kind != Repeated::kNew && is_callers(app, caller, *earlier.pool, earlier.event) ? earlier : found;
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
