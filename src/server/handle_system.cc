// How the server itself is: alive, ready, what version, what figures.
#include <array>

#include "server/app.h"
#include "server/openapi.h"
#include "server/query.h"
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
  std::optional<bool> with_digest;
  if (auto fault = read_flag(call.request.query, "digest", with_digest)) return call.answer->refuse(*fault);
  const LogFigures figures = app.service().log().figures();
  JsonWriter out;
  out.open('{').key("version").text(app.version()).key("commit").text(app.commit());
  out.key("config_hash").text(config::config_hash(app.config())).key("store").text(app.config().store.file);
  out.key("durability").text(app.config().store.durability == config::Durability::kDisk ? "disk" : "process");
  render_time(out, "started", app.started_ms());
  render_time(out, "now", app.service().now_ms());
  out.key("answers").text(std::array<std::string_view, 3>{"text", "hash", "none"}[static_cast<std::size_t>(app.config().store.answers)]);
  const auto [main, operators] = app.listeners();
  out.key("listen").text(main == nullptr ? "" : main->address()).key("admin_listen").text(operators == nullptr ? "" : operators->address());
  out.key("tls").flag(main != nullptr && main->tls());
  out.key("streams").number(app.events().size()).key("appended").number(figures.appended).key("commits").number(figures.commits);
  out.key("stored_bytes").number(figures.stored_bytes).key("waiting").number(figures.waiting).key("pools").open('[');
  for (const auto& [name, pool] : app.service().pools()) {
    if (!call.caller.owns(name)) continue;
    out.open('{').key("pool").text(call.caller.shown(name)).key("offset").number(pool->next_offset());
    // A digest is of the whole state: made for who asks for it.
    if (with_digest.value_or(false)) out.key("digest").text(pool->pool().digest().hex());
    out.key("folding").flag(pool->folding).close('}');
  }
  // Names, never secrets; a tenant sees its own.
  out.close(']').key("keys").open('[');
  for (const access::Key& key : app.keys().keys()) {
    if (!call.caller.tenant.empty() && key.grant.tenant != call.caller.tenant) continue;
    out.open('{').key("id").text(key.id).key("name").text(key.grant.name).key("scopes").text(key.grant.scopes.text());
    out.key("tenant").text(key.grant.tenant).key("weight").number(key.grant.weight);
    render_time(out, "created", key.created_ms);
    out.key("revoked").flag(key.revoked_ms.has_value()).close('}');
  }
  call.answer->json(out.close(']').close('}').take());
}

void show_metrics(App& app, const Call& call) {
  http::Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = app.metrics().render(app, call.caller);
  call.answer->send(std::move(response));
}

void show_openapi(App& /*app*/, const Call& call) { call.answer->json(std::string(openapi_document())); }

}  // namespace margin::server
