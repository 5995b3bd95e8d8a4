// How the server itself is: alive, ready, what version, what figures.
#include "server/app.h"
#include "server/openapi.h"
#include "server/render.h"

namespace margin::server {

void show_health(App& /*app*/, const Call& call) { call.answer->json(R"({"status":"ok"})"); }

void show_ready(App& app, const Call& call) {
  JsonWriter out;
  const Status writable = app.service().log().writable();
  const bool ready = writable.ok() && !app.draining();
  out.open('{').key("status").text(ready ? "ready" : "not_ready").key("reasons").open('[');
  if (app.draining()) out.text("the server is shutting down");
  if (!writable.ok()) out.text("store: " + writable.error().message);
  call.answer->json(out.close(']').close('}').take(), ready ? 200 : 503);
}

void show_status(App& app, const Call& call) {
  const LogFigures figures = app.service().log().figures();
  const bool with_digest = http::query_value(call.request.query, "digest") == "true";
  JsonWriter out;
  out.open('{').key("version").text(app.version()).key("store").text(app.config().store.file);
  out.key("durability").text(app.config().store.durability == config::Durability::kDisk ? "disk" : "process");
  out.key("stored_bytes").number(figures.stored_bytes).key("waiting").number(figures.waiting).key("pools").open('[');
  for (const auto& [name, pool] : app.service().pools()) {
    if (!call.caller.owns(name)) continue;
    out.open('{').key("pool").text(call.caller.shown(name)).key("offset").number(pool->next_offset());
    // A digest is of the whole state: made for who asks for it.
    if (with_digest) out.key("digest").text(pool->pool().digest().hex());
    out.key("folding").flag(pool->folding).close('}');
  }
  call.answer->json(out.close(']').close('}').take());
}

void show_metrics(App& app, const Call& call) {
  http::Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = app.metrics().render(app);
  call.answer->send(std::move(response));
}

void show_openapi(App& /*app*/, const Call& call) { call.answer->json(std::string(openapi_document())); }

}  // namespace margin::server
