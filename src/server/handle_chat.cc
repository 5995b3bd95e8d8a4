// POST /v1/chat/completions and GET /v1/models: the OpenAI-compatible side. A chat to margin/POOL asks the pool's models and votes; a chat
// to an upstream's own name is passed through (pass_through.cc).
#include <algorithm>
#include <memory>

#include "base/text.h"
#include "gateway/chat_request.h"
#include "gateway/gateway.h"
#include "server/app.h"
#include "server/chat_desk.h"
#include "server/idempotency.h"
#include "server/kept_answers.h"
#include "server/pass_through.h"
#include "server/render.h"
#include "server/render_chat.h"

namespace margin::server {
namespace {

using gateway::Chat;
using gateway::ChatRequest;
using gateway::Heard;
using service::ServedPool;

// A client that lost its connection and tries again does so within this time; then nobody waits for the models any more.
constexpr std::chrono::seconds kGrace{10};
constexpr std::size_t kFailuresNamed = 8;

// The client's own retry would only repeat a paid round of questions.
http::Response final_refusal(int status, std::string_view code, std::string_view message, std::string_view param = {}) {
  http::Response response = refusal(status, code, message, param);
  std::erase_if(response.headers, [](const auto& header) { return header.first == "Retry-After"; });
  response.headers.emplace_back("x-should-retry", "false");
  return response;
}

http::Response too_few(const Heard& heard, std::int64_t needed) {
  std::string message = "the models gave too few usable answers: expected at least " + std::to_string(needed);
  bool all_late = true;
  std::size_t named = 0;
  for (const gateway::Candidate& candidate : heard.candidates) {
    if (candidate.error.empty() || candidate.progress == gateway::Progress::kIdle) continue;
    all_late = all_late && candidate.error == "timeout";
    if (named++ < kFailuresNamed) message += (named == 1 ? "; " : ", ") + candidate.model + ": " + candidate.error;
  }
  return final_refusal(all_late && named > 0 ? 504 : 502, "too_few_responses", message);
}

// What a key may still use today.
std::optional<http::Response> over_budget(App& app, const std::string& key) {
  const config::Gateway& limits = app.config().gateway;
  const auto account = app.gateway().ledger().of(key, app.service().now_ms());
  const bool spent = limits.spend_per_day > 0.0 && account.spend >= limits.spend_per_day;
  const bool used = limits.tokens_per_day > 0 && account.tokens >= static_cast<std::uint64_t>(limits.tokens_per_day);
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

// One chat from its start to its record in the log.
struct PoolChat : std::enable_shared_from_this<PoolChat> {
  App& app;
  ServedPool& pool;
  std::shared_ptr<ChatExchange> exchange;
  std::optional<RequestMark> mark;
  std::string key;     // of the ledger
  std::string source;  // of the caller
  FinishedChat finished;
  std::int64_t min_responses = 1;
  bool told = false;
  const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  PoolChat(App& app_, ServedPool& pool_) : app(app_), pool(pool_) {}

  void forget() {
    if (mark) app.chats().forget(pool.name(), *mark);
  }

  void tell(const Heard& heard) {
    told = true;
    app.metrics().overhead(std::chrono::steady_clock::now() - began - heard.waited);
    finished.heard = heard;
    exchange->succeed(finished);
  }

  void answer(const Heard& heard) {
    if (heard.decision && heard.decision->selected != kNoAnswer) tell(heard);
  }

  void done(Heard heard) {
    app.gateway().count(heard);
    app.gateway().ledger().add(key, app.service().now_ms(), heard.cost, heard.usage.total_tokens);
    const bool selected = heard.decision && heard.decision->selected != kNoAnswer;
    if (!selected) {
      // A failure is not kept: whoever tries again on purpose asks anew.
      forget();
      if (told) return;
      return exchange->fail(heard.error ? refusal(*heard.error) : too_few(heard, min_responses));
    }
    DecisionMade decision = *heard.decision;
    keep_answers(decision, heard.question, app.config().store.answers);
    service::Prepared prepared = app.service().prepare(pool, std::move(decision), finished.id);
    prepared.mark = mark;
    prepared.note = source;
    const auto self = shared_from_this();
    const Status taken = app.service().commit(std::move(prepared), [self, heard = std::move(heard)](Result<service::Applied> applied) {
      if (!applied || applied->result.error) {
        self->forget();
        if (!self->told) self->exchange->fail(refusal(applied ? *applied->result.error : applied.error()));
        return;
      }
      if (!self->told) self->tell(heard);
    });
    if (!taken) {
      forget();
      if (!told) exchange->fail(refusal(overloaded(taken.error())));
    }
  }
};

std::string ledger_key(const Caller& caller) { return caller.tenant + "/" + caller.source; }

void start_pool_chat(App& app, const Call& call, ServedPool& pool, const config::PoolSettings& settings, ChatRequest request,
                     config::Strategy strategy) {
  const auto mark = request_mark(call);
  if (mark) {
    const ChatDesk::Found found = app.chats().find(pool.name(), *mark);
    if (found.other_body) return call.answer->send(idempotency_conflict());
    if (found.exchange) return found.exchange->join(call.answer, request.stream, request.include_usage);
    if (const Repeated repeated = seen_before(pool, *mark); repeated.kind != Repeated::kNew) {
      if (repeated.kind == Repeated::kOtherBody) return call.answer->send(idempotency_conflict());
      return call.answer->send(final_refusal(422, "answer_not_kept",
                                             "Idempotency-Key: this chat was answered as decision " + repeated.event.text() +
                                                 ", and its text is no longer kept; GET /v1/decisions/ID shows it"));
    }
  }
  if (auto refused = over_budget(app, ledger_key(call.caller))) return call.answer->send(std::move(*refused));

  const Uuid id = app.service().new_id();
  auto run = std::make_shared<PoolChat>(app, pool);
  run->exchange = std::make_shared<ChatExchange>(
      app.gateway().loop(), id,
      ChatExchange::Settings{.keep_alive = std::chrono::milliseconds(app.config().gateway.keep_alive_ms),
                             .grace = mark ? std::chrono::milliseconds(kGrace) : std::chrono::milliseconds(0)});
  run->mark = mark;
  run->key = ledger_key(call.caller);
  run->source = call.caller.source;
  run->min_responses = settings.min_responses;
  run->finished = {.id = id,
                   .created_s = app.service().now_ms() / 1000,
                   .model = request.model,
                   .options = request.options,
                   .state_version = pool.next_offset()};
  gateway::ChatSettings how{.pool = settings,
                            .strategy = strategy,
                            .models = app.gateway().models_of(settings),
                            .chance = app.gateway().chance(),
                            .audit_seed = id.low};
  how.headers = forwarded_headers(call.request);
  const bool stream = request.stream;
  const bool include_usage = request.include_usage;
  auto chat = std::make_shared<Chat>(app.gateway().loop(), pool, std::move(request), std::move(how),
                                     Chat::Callbacks{.answer = [run](const Heard& heard) { run->answer(heard); },
                                                     .done = [run](Heard heard) { run->done(std::move(heard)); }});
  run->exchange->runs(chat);
  run->exchange->on_abandoned([run] { run->forget(); });
  if (mark) app.chats().add(pool.name(), *mark, run->exchange);
  run->exchange->join(call.answer, stream, include_usage);
  if (strategy == config::Strategy::kShadow) app.gateway().keep(chat);
  chat->start();
}

void chat_to_pool(App& app, const Call& call, ChatRequest request, const gateway::PoolName& name) {
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
    return pass_through(app, call, request, *app.gateway().find(primary), request.only_primary);
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
  if (upstream == nullptr) {
    return call.answer->send(refusal(
        404, "model_not_found", "model: no model named " + internal::printable(request.model) + "; GET /v1/models lists them", "model"));
  }
  if (auto refused = over_budget(app, ledger_key(call.caller))) return call.answer->send(std::move(*refused));
  pass_through(app, call, request, *upstream, "");
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
  call.answer->send(refusal(404, "model_not_found", "model: no model named " + internal::printable(wanted), "model"));
}

}  // namespace margin::server
