// /v1/pools/{pool}/state: a pool's state as a file, out and in.
#include <charconv>

#include "log/state_file.h"
#include "server/app.h"
#include "server/commit.h"
#include "server/render.h"

namespace margin::server {

void export_state(App& app, const Call& call) {
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

void import_state(App& app, const Call& call) {
  double trust = 1.0;
  if (const auto text = http::query_value(call.request.query, "trust")) {
    const auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), trust);
    if (status != std::errc() || end != text->data() + text->size() || !(trust > 0.0 && trust <= 1.0)) {
      return call.answer->refuse(Fault{"trust", "trust: expected a number in (0, 1]"});
    }
  }
  auto file = decode_state_file(call.request.body);
  if (!file) return call.answer->send(refusal(400, "invalid_value", "body: " + file.error().message));
  service::ServedPool* pool = find_pool(app, call, call.arguments[0]);
  if (pool == nullptr) return;
  commit_and_show(app, call, *pool, StateImported{.state = std::move(file->snapshot), .trust = trust},
                  [&app, pool, name = call.arguments[0]](JsonWriter& out) { render_pool(out, name, *pool, app.service().now_ms()); });
}

}  // namespace margin::server
