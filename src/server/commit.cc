#include "server/commit.h"

#include "server/idempotency.h"

namespace margin::server {

void commit_and_show(App& app, const Call& call, service::ServedPool& pool, EventBody body, std::function<void(JsonWriter&)> show) {
  service::Prepared prepared = app.service().prepare(pool, std::move(body));
  prepared.note = call.caller.source;
  const Status taken =
      app.service().commit(std::move(prepared), [answer = call.answer, show = std::move(show)](const Result<service::Applied>& applied) {
        if (!applied) return answer->refuse(applied.error());
        if (applied->result.error) return answer->refuse(*applied->result.error);
        JsonWriter out;
        show(out);
        answer->json(out.take());
      });
  if (!taken) call.answer->refuse(overloaded(taken.error()));
}

}  // namespace margin::server
