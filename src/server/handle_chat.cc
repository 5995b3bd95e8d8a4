// POST /v1/chat/completions and GET /v1/models: the OpenAI-compatible side. A chat to margin/POOL asks the pool's models and votes; a chat
// to an upstream's own name is passed through (pass_through.cc).
#include <algorithm>
#include <memory>

#include "base/text.h"
#include "gateway/chat_request.h"
#include "gateway/gateway.h"
#include "server/app.h"
#include "server/idempotency.h"
#include "server/pass_through.h"
#include "server/pool_chat.h"
#include "server/render.h"
#include "server/tracing.h"

namespace margin::server {
namespace {

using gateway::ChatRequest;
using service::ServedPool;

void refuse_model(const Call& call, std::string_view message) {
  call.answer->send(refusal(404, "model_not_found", "model: " + std::string(message) + "; GET /v1/models lists them", "model"));
}

// What a key may still use today.
std::optional<http::Response> over_budget(App& app, const std::string& key) {
  const config::Gateway& gateway = app.config().gateway;
  const auto account = app.gateway().ledger().of(key, app.service().now_ms());
  const bool spent = gateway.spend_per_day > 0.0 && account.spend >= gateway.spend_per_day;
  const bool used = gateway.tokens_per_day > 0 && account.tokens >= static_cast<std::uint64_t>(gateway.tokens_per_day);
  if (!spent && !used) return std::nullopt;
  return final_refusal(429, "budget_exceeded",
                       spent ? "this key has used gateway.spend_per_day; it begins anew at midnight UTC"
                             : "this key has used gateway.tokens_per_day; it begins anew at midnight UTC");
}

// What can be known to fail before anybody is asked.
std::optional<Fault> check_chat(const ChatRequest& request, const ServedPool& pool, config::Strategy strategy) {
  if (request.choices != 1.0) return Fault{"n", "n: a pool gives one answer, expected 1"};
  if (request.options.vote.empty()) return std::nullopt;
  if (strategy == config::Strategy::kShadow) return Fault{"margin.vote", "margin.vote: shadow answers with the primary's answer, no vote"};
  const Result<const VoteInfo*> vote = find_vote(request.options.vote);
  if (!vote) return Fault{"margin.vote", "margin.vote: " + vote.error().message};
  if ((*vote)->learns && (*vote)->identifier != pool.pool().config().vote) {
    return Fault{"margin.vote", "margin.vote: " + request.options.vote + " learns, so it can only be the pool's own"};
  }
  return std::nullopt;
}

void start_pool_chat(App& app, const Call& call, ServedPool& pool, const config::PoolSettings& settings, ChatRequest request,
                     config::Strategy strategy) {
  const auto mark = request_mark(call);
  if (mark) {
    const ChatDesk::Found found = app.chats().find(pool.name(), mark->mark);
    if (found.other_body) return call.answer->send(idempotency_conflict());
    if (found.exchange) return found.exchange->join(call.answer, request.stream, request.include_usage);
    if (const Repeated repeated = seen_before(app, call.caller, *mark); repeated.kind != Repeated::kNew) {
      if (repeated.kind == Repeated::kOtherBody) return call.answer->send(idempotency_conflict());
      return call.answer->send(final_refusal(422, "answer_not_kept",
                                             "Idempotency-Key: this chat was answered as decision " + repeated.event.text() +
                                                 ", and its text is no longer kept; GET /v1/decisions/ID shows it"));
    }
  }
  if (auto refused = over_budget(app, call.caller.account())) return call.answer->send(std::move(*refused));

  ChatOrigin origin{.key = call.caller.account(), .source = call.caller.source, .traced = caller_context(call.request)};
  if (mark) origin.mark = mark->mark;
  const bool stream = request.stream;
  const bool include_usage = request.include_usage;
  run_pool_chat(app, pool, settings, std::move(request), strategy, std::move(origin))->join(call.answer, stream, include_usage);
}

void chat_to_one(App& app, const Call& call, const ChatRequest& request, const gateway::Model& model) {
  if (auto refused = over_budget(app, call.caller.account())) return call.answer->send(std::move(*refused));
  pass_through(app, call, request, model, request.only_primary);
}

void chat_to_pool(App& app, const Call& call, ChatRequest request, const gateway::PoolName& name) {
  if (app.config().pools.find(call.caller.stored(name.pool)) == app.config().pools.end()) {
    return refuse_model(call, "no pool named " + internal::printable(name.pool));
  }
  ServedPool* pool = find_pool(app, call, name.pool);
  if (pool == nullptr) return;
  const config::PoolSettings* settings = settings_of(app, *pool);
  if (settings == nullptr || settings->models.empty()) {
    return call.answer->send(
        refusal(404, "model_not_found",
                "model: pool " + name.pool + " has no models to ask; models = [...] of [pools." + name.pool + "] names them", "model"));
  }
  const config::Strategy strategy = name.strategy.value_or(settings->strategy);
  if (!request.only_primary.empty()) {
    const std::string& primary = settings->primary.empty() ? settings->models.front() : settings->primary;
    return chat_to_one(app, call, request, *app.gateway().find(primary));
  }
  if (auto fault = check_chat(request, *pool, strategy)) return call.answer->refuse(*fault);
  start_pool_chat(app, call, *pool, *settings, std::move(request), strategy);
}

// The pools a caller can chat with, and every upstream.
std::vector<std::pair<std::string, std::string>> models_of(App& app, const Caller& caller) {
  std::vector<std::pair<std::string, std::string>> models;  // id, owner
  for (const auto& [name, settings] : app.config().pools) {
    if (!settings.models.empty() && caller.owns(name)) models.emplace_back("margin/" + caller.shown(name), "margin");
  }
  for (const auto& [name, model] : app.gateway().models()) models.emplace_back(name, "upstream");
  return models;
}

void render_model(JsonWriter& out, const std::string& id, const std::string& owner, std::int64_t created_s) {
  out.open('{').key("id").text(id).key("object").text("model").key("created").number(created_s).key("owned_by").text(owner).close('}');
}

}  // namespace

void chat(App& app, const Call& call) {
  const Json* body = server::body_of(app, call);
  if (body == nullptr) return;
  ChatRequest request;
  if (auto fault = gateway::read_chat_request(*body, request)) return call.answer->refuse(*fault);
  if (const auto pool = gateway::parse_pool_name(request.model)) return chat_to_pool(app, call, std::move(request), *pool);
  const gateway::Model* upstream = app.gateway().find(request.model);
  if (upstream == nullptr) return refuse_model(call, "no model named " + internal::printable(request.model));
  request.only_primary.clear();  // it was asked for by name
  chat_to_one(app, call, request, *upstream);
}

void list_models(App& app, const Call& call) {
  JsonWriter out;
  out.open('{').key("object").text("list").key("data").open('[');
  for (const auto& [id, owner] : models_of(app, call.caller)) render_model(out, id, owner, app.started_ms() / 1000);
  call.answer->json(out.close(']').close('}').take());
}

void show_model(App& app, const Call& call) {
  std::string wanted;
  for (const std::string& part : call.arguments) wanted += (wanted.empty() ? "" : "/") + part;
  for (const auto& [id, owner] : models_of(app, call.caller)) {
    if (id != wanted) continue;
    JsonWriter out;
    render_model(out, id, owner, app.started_ms() / 1000);
    return call.answer->json(out.take());
  }
  refuse_model(call, "no model named " + internal::printable(wanted));
}

}  // namespace margin::server
