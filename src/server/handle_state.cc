// /v1/pools/{pool}/state: a pool's state as a file.
#include "log/state_file.h"
#include "server/app.h"
#include "server/render.h"

namespace margin::server {

void export_state(App& app, Call call) {
  const service::ServedPool* pool = find_pool(app, call, call.arguments[0]);
  if (pool == nullptr) return;
  if (pool->pool().needs_fold()) {
    return call.answer->send(refusal(503, "folding", "pool: an outcome is being taken back, try again soon"));
  }
  http::Response response;
  response.content_type = "application/octet-stream";
  response.body = encode_state_file({.pool = pool->name(), .offset = pool->next_offset(), .snapshot = pool->pool().snapshot()});
  response.headers = {{"Content-Disposition", "attachment; filename=\"state.margin\""}, {"x-margin-digest", pool->pool().digest().hex()}};
  call.answer->send(std::move(response));
}

}  // namespace margin::server
