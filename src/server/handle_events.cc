// GET /v1/events: what happens, live, as server-sent events.
#include "server/app.h"

namespace margin::server {

void stream_events(App& app, const Call& call) {
  EventStream::Wanted wanted{.caller = call.caller, .pool = ""};
  if (const auto name = http::query_value(call.request.query, "pool")) {
    const service::ServedPool* pool = find_pool(app, call, *name);
    if (pool == nullptr) return;
    wanted.pool = pool->name();
  }
  http::Response head;
  head.content_type = "text/event-stream";
  head.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
  http::Stream stream = call.answer->stream(std::move(head));
  if (stream.open()) app.events().add(std::move(stream), std::move(wanted));
}

}  // namespace margin::server
