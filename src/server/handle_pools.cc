// /v1/pools: what pools there are, how they are configured, what they have learned.
#include <map>

#include "config/config.h"
#include "server/app.h"
#include "server/commit.h"
#include "server/pool_settings.h"
#include "server/render.h"

namespace margin::server {
namespace {

using service::ServedPool;

template <class Render>
void render_found(App& app, const Call& call, Render render) {
  ServedPool* pool = find_pool(app, call, call.arguments[0]);
  if (pool == nullptr) return;
  JsonWriter out;
  render(out, *pool);
  call.answer->json(out.take());
}

// What a request changed would be undone by the file at the next reload or start.
http::Response belongs_to_file(const std::string& pool) {
  const bool bare = pool.find_first_of("./") == std::string::npos;
  return refusal(409, "conflict",
                 "pool: it is configured by [pools." + (bare ? pool : "\"" + pool + "\"") +
                     "] of the configuration file; change it there, or take the section out",
                 "pool");
}

}  // namespace

void list_pools(App& app, const Call& call) {
  const std::string own = call.caller.stored(service::kDefaultPool);
  std::map<std::string, const ServedPool*> pools;  // as the caller knows them
  for (const auto& [name, pool] : app.service().pools()) {
    if (call.caller.owns(name)) pools.emplace(call.caller.shown(name), pool.get());
  }
  if (app.service().find(own) == nullptr) pools.emplace(service::kDefaultPool, &app.unmade_default(own));
  JsonWriter out;
  out.open('{').key("pools").open('[');
  for (const auto& [name, pool] : pools) render_pool(out, name, *pool, app.service().now_ms());
  call.answer->json(out.close(']').close('}').take());
}

void show_pool(App& app, const Call& call) {
  render_found(app, call,
               [&](JsonWriter& out, const ServedPool& pool) { render_pool(out, call.arguments[0], pool, app.service().now_ms()); });
}

void put_pool(App& app, const Call& call) {
  if (std::string fault = pool_name_fault(call.caller, call.arguments[0]); !fault.empty())
    return call.answer->refuse(Fault{"pool", std::move(fault)});
  const std::string stored = call.caller.stored(call.arguments[0]);
  if (config::is_stated(app.config(), stored)) return call.answer->send(belongs_to_file(stored));
  const Json* body = body_of(app, call);
  if (body == nullptr) return;
  auto settings = read_pool_settings(*body, app.config(), stored);
  if (!settings) return call.answer->refuse(settings.error());
  auto pool = app.service().find_or_make(stored);
  if (!pool) return call.answer->refuse(pool.error());
  commit_and_show(app, call, **pool, std::move(*settings), [&app, stored, name = call.arguments[0]](JsonWriter& out) {
    render_pool(out, name, *app.service().find(stored), app.service().now_ms());
  });
}

void show_factors(App& app, const Call& call) {
  const auto model = http::query_value(call.request.query, "model");
  render_found(app, call, [&](JsonWriter& out, ServedPool& pool) {
    out.open('{').key("pool").text(call.arguments[0]).key("factors").open('[');
    const auto render = [&](const FactorRow& row) { render_factor(out, row, pool.insight().history().trend(row)); };
    if (model) {
      for (const FactorRow& row : pool.factor_board()) {
        if (row.model == *model) render(row);
      }
    } else {
      for (const FactorRow& row : pool.pool().factors()) render(row);
    }
    out.close(']').close('}');
  });
}

void show_alarms(App& app, const Call& call) {
  render_found(app, call, [&](JsonWriter& out, const ServedPool& pool) {
    out.open('{').key("pool").text(call.arguments[0]).key("alarms").open('[');
    for (const Alarm& alarm : pool.pool().alarms()) render_alarm(out, alarm);
    out.close(']').close('}');
  });
}

}  // namespace margin::server
