#include "server/pool_chat.h"

#include <utility>

#include "config/fields.h"
#include "gateway/chat.h"
#include "server/idempotency.h"
#include "server/kept_answers.h"
#include "server/render_chat.h"
#include "server/tracing.h"

namespace margin::server {
namespace {

using gateway::Chat;
using gateway::Heard;
using service::ServedPool;

// A client that lost its connection and tries again does so within this time; then nobody waits for the models any more.
constexpr std::chrono::seconds kGrace{10};
constexpr std::size_t kFailuresNamed = 8;

http::Response no_retry(http::Response response) {
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

// One chat from its start to its record in the log.
struct PoolChat : std::enable_shared_from_this<PoolChat> {
  App& app;
  ServedPool& pool;
  const Uuid id;
  std::shared_ptr<ChatExchange> exchange;
  std::shared_ptr<trace::ChatTrace> trace;  // shared with the chat
  ChatOrigin origin;
  FinishedChat finished;
  std::int64_t min_responses = 1;
  bool told = false;
  bool accounted = false;
  const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  PoolChat(App& app_, ServedPool& pool_, Uuid id_) : app(app_), pool(pool_), id(id_) {}

  void forget() {
    if (origin.mark) app.chats().forget(pool.name(), *origin.mark);
  }

  void tell(Heard heard) {
    told = true;
    app.metrics().overhead(std::chrono::steady_clock::now() - began - heard.waited);
    finished.heard = std::move(heard);
    finish_trace(*trace, finished);
    exchange->succeed(std::move(finished));
  }

  void refuse(http::Response response, std::chrono::nanoseconds waited) {
    fail_trace(*trace, response);
    exchange->fail(std::move(response), waited);
  }

  void answer(const Heard& heard) {
    if (heard.decision && heard.decision->selected != kNoAnswer) tell(heard);
  }

  // What was used counts, whatever came of it, and once: a client may leave while its chat is being stored.
  void account(const Heard& heard) {
    if (std::exchange(accounted, true)) return;
    app.gateway().count(heard);
    app.gateway().ledger().add(origin.key, app.service().now_ms(), heard.cost, heard.usage.total_tokens);
  }

  void done(Heard heard) {
    account(heard);
    const bool selected = heard.decision && heard.decision->selected != kNoAnswer;
    if (!selected) {
      // A failure is not kept: whoever tries again on purpose asks anew.
      forget();
      if (told) return;
      return refuse(heard.error ? no_retry(refusal(*heard.error)) : too_few(heard, min_responses), heard.waited);
    }
    DecisionMade decision = *heard.decision;
    keep_answers(decision, app.config().store.answers);
    service::Prepared prepared = app.service().prepare(pool, std::move(decision), id);
    prepared.mark = origin.mark;
    prepared.note = origin.source;
    const auto self = shared_from_this();
    const std::chrono::nanoseconds waited = heard.waited;
    const Status taken =
        app.service().commit(std::move(prepared), [self, heard = std::move(heard)](Result<service::Applied> applied) mutable {
          if (!applied || applied->result.error) {
            self->forget();
            if (!self->told) self->refuse(no_retry(refusal(applied ? *applied->result.error : applied.error())), heard.waited);
            return;
          }
          if (!self->told) self->tell(std::move(heard));
        });
    if (!taken) {
      forget();
      if (!told) refuse(no_retry(refusal(overloaded(taken.error()))), waited);
    }
  }
};

}  // namespace

http::Response final_refusal(int status, std::string_view code, std::string_view message, std::string_view param) {
  return no_retry(refusal(status, code, message, param));
}

std::shared_ptr<ChatExchange> run_pool_chat(App& app, ServedPool& pool, const config::PoolSettings& settings, gateway::ChatRequest request,
                                            config::Strategy strategy, ChatOrigin origin) {
  const Uuid id = app.service().new_id();
  auto run = std::make_shared<PoolChat>(app, pool, id);
  run->exchange = std::make_shared<ChatExchange>(
      app.gateway().loop(), id,
      ChatExchange::Settings{.keep_alive = std::chrono::milliseconds(app.config().gateway.keep_alive_ms),
                             .grace = origin.mark ? std::chrono::milliseconds(kGrace) : std::chrono::milliseconds(0)});
  run->origin = origin;
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
                            .audit_seed = id.low,
                            .parser = &app.gateway().reply_parser()};
  how.trace = run->trace = begin_trace(app, origin.traced, id, request);
  if (app.tracer()->enabled()) {
    run->trace->attributes().set("margin.pool", pool.name());
    run->trace->attributes().set("margin.strategy", config::word(strategy));
  }
  auto chat = std::make_shared<Chat>(app.gateway().loop(), pool, std::move(request), std::move(how),
                                     Chat::Callbacks{.answer = [run](const Heard& heard) { run->answer(heard); },
                                                     .done = [run](Heard heard) { run->done(std::move(heard)); }});
  run->exchange->runs(chat);
  run->exchange->on_abandoned([run, chat] {
    run->forget();
    run->account(chat->heard());
  });
  if (origin.mark) app.chats().add(pool.name(), *origin.mark, run->exchange);
  if (strategy == config::Strategy::kShadow) app.gateway().keep(chat);
  chat->start();
  return run->exchange;
}

}  // namespace margin::server
