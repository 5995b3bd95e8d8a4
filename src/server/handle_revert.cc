// POST /v1/feedback/revert: what was said is taken back.
#include "server/app.h"
#include "server/feedback_request.h"
#include "server/idempotency.h"
#include "server/render.h"

namespace margin::server {

using service::Applied;
using service::Prepared;
using service::ServedPool;

void revert_feedback(App& app, const Call& call) {
  const Json* body = body_of(app, call);
  if (body == nullptr) return;
  ObjectReader in(*body, "");
  const auto feedback = in.text("feedback_id");
  const auto source = in.text("source");
  const std::string pool_name(in.text("pool").value_or("default"));
  std::optional<Uuid> id;
  if (feedback && !(id = parse_feedback_id(*feedback))) in.fail("feedback_id", "expected a UUID");
  if (feedback.has_value() == source.has_value()) in.fail("feedback_id", "expected either feedback_id or source");
  if (auto fault = in.finish()) return call.answer->refuse(*fault);
  ServedPool* pool = find_pool(app, call, pool_name);
  if (pool == nullptr) return;
  if (id) {
    if (Status status = app.service().can_revert(*pool, *id); !status) return call.answer->refuse(status.error());
  }
  Prepared prepared = app.service().prepare(*pool, OutcomeReverted{.feedback = id, .source = source ? std::string(*source) : ""});
  prepared.note = call.caller.source;
  const Status taken = app.service().commit(std::move(prepared), [answer = call.answer](const Result<Applied>& applied) {
    if (!applied) return answer->refuse(applied.error());
    if (applied->result.error) return answer->refuse(*applied->result.error);
    JsonWriter out;
    out.open('{').key("status").text(name_of(applied->result.status)).key("reverted").open('[');
    for (const Uuid reverted : applied->result.reverted) out.text(reverted.text());
    answer->json(out.close(']').close('}').take());
  });
  if (!taken) call.answer->refuse(overloaded(taken.error()));
}

}  // namespace margin::server
