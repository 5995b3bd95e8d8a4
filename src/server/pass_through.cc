#include "server/pass_through.h"

#include <memory>

#include "server/idempotency.h"
#include "server/render.h"
#include "server/render_chat.h"
#include "server/tracing.h"

namespace margin::server {
namespace {

// What an upstream's failure is to the client, as long as the outcome is there.
http::Response refusal_of(const upstream::Outcome& outcome) {
  using upstream::Failure;
  if (outcome.failure == Failure::kStatus && outcome.status >= 400 && outcome.status < 600) {
    // The upstream's own words, as it said them.
    http::Response response;
    response.status = outcome.status;
    response.content_type = outcome.content_type.empty() ? http::Response::kJson : outcome.content_type;
    response.body = outcome.body;
    if (outcome.retry_after) response.headers.emplace_back("Retry-After", std::to_string(outcome.retry_after->count()));
    response.headers.emplace_back("x-should-retry", "false");
    return response;
  }
  const bool late = outcome.failure == Failure::kTimeout;
  const bool busy = outcome.failure == Failure::kBusy || outcome.failure == Failure::kBreaker;
  const int status = late ? 504 : busy ? 503 : 502;
  http::Response response = refusal(status, "upstream_" + std::string(upstream::name_of(*outcome.failure)), outcome.message);
  response.headers.emplace_back("x-should-retry", "false");
  return response;
}

struct Passing {
  SharedAnswer answer;
  http::Stream out;
  upstream::Call call;
  std::shared_ptr<trace::ChatTrace> trace;  // its only call is number 0
  upstream::ChatAssembler assembled;
  JsonParser parser{64};
};

// The reply with one member more.
std::string with_margin(std::string body, const std::string& model, const std::string& reason) {
  const std::size_t end = body.rfind('}');
  if (reason.empty() || end == std::string::npos) return body;
  JsonWriter out;
  out.open('{').key("decision_id").null().key("winner").text(model).key("routed").text("primary").key("reason").text(reason).close('}');
  const std::size_t before = body.find_last_not_of(" \t\r\n", end - 1);
  const bool empty = before != std::string::npos && body[before] == '{';
  return body.substr(0, end) + (empty ? "" : ",") + "\"margin\":" + out.take() + body.substr(end);
}

}  // namespace

void pass_through(App& app, const Call& call, const gateway::ChatRequest& request, const gateway::Model& model, const std::string& reason) {
  auto passing = std::make_shared<Passing>();
  passing->answer = call.answer;
  if (!reason.empty()) call.answer->add_header("x-margin-routed", "primary; reason=" + reason);
  call.answer->on_disconnect([passing] { passing->call.cancel(); });
  upstream::Ask ask;
  ask.body = gateway::body_for(request, {.model = model.upstream->settings().model, .stream = request.stream});
  ask.stream = request.stream;
  passing->trace = begin_trace(app, caller_context(call.request), app.service().new_id(), request);
  ask.headers = passing->trace->headers(passing->trace->call(model.upstream->settings()));
  // The upstream's to respect. As a digest, in which the caller's key has its part: nobody gets the reply to another's.
  if (const auto mark = request_mark(call)) ask.headers.emplace_back("Idempotency-Key", "margin-" + mark->mark.key.hex());
  const std::string key = call.caller.account();
  const auto began = std::chrono::steady_clock::now();

  const auto account = [&app, key, model, began](const upstream::Usage& usage, std::string error) {
    gateway::Heard heard;
    gateway::Candidate& candidate = heard.candidates.emplace_back();
    candidate.model = model.name;
    candidate.progress = error.empty() ? gateway::Progress::kAnswered : gateway::Progress::kFailed;
    candidate.error = std::move(error);
    candidate.usage = usage;
    candidate.cost = model.cost_of(usage);
    candidate.took = std::chrono::steady_clock::now() - began;
    app.gateway().count(heard);
    app.gateway().ledger().add(key, app.service().now_ms(), candidate.cost, usage.total_tokens);
  };

  const auto on_event = [passing, began](std::string_view json) {
    if (!passing->out.open()) {
      passing->answer->waited_for_models(std::chrono::steady_clock::now() - began);
      http::Response head;
      head.content_type = "text/event-stream";
      head.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
      passing->out = passing->answer->stream(head);  // closed where the client has left; then the write below says so
      passing->out.on_disconnect([passing] { passing->call.cancel(); });
    }
    // Only for the account; what is no chunk is the client's to judge.
    (void)passing->assembled.add(passing->parser, json);
    if (!passing->out.write("data: " + std::string(json) + "\n\n")) passing->call.cancel();
  };

  const auto done = [passing, account, name = model.name, reason, began, stream = request.stream](upstream::Outcome outcome) {
    passing->call = {};
    passing->answer->waited_for_models(std::chrono::steady_clock::now() - began);
    if (outcome.failure) {
      passing->trace->ended(0, outcome, nullptr);
      account(passing->assembled.reply().usage, std::string(upstream::name_of(*outcome.failure)));
      http::Response refused = refusal_of(outcome);
      fail_trace(*passing->trace, refused);
      if (!passing->out.open()) return passing->answer->send(std::move(refused));
      passing->out.write(render_error_frame(http::error_response(502, {.message = outcome.message, .code = "upstream_cut"}).body));
      return passing->out.close();
    }
    if (stream && passing->out.open()) {
      passing->trace->ended(0, outcome, &passing->assembled.reply());
      passing->trace->finish(passing->assembled.reply());
      account(passing->assembled.reply().usage, "");
      passing->out.write("data: [DONE]\n\n");
      return passing->out.close();
    }
    auto reply = upstream::read_chat_reply(passing->parser, outcome.body);
    passing->trace->ended(0, outcome, reply ? &*reply : nullptr);
    account(reply ? reply->usage : upstream::Usage{}, reply ? "" : "malformed");
    if (!reply) {
      http::Response refused = refusal(502, "upstream_malformed", name + ": " + reply.error().message);
      refused.headers.emplace_back("x-should-retry", "false");
      fail_trace(*passing->trace, refused);
      return passing->answer->send(std::move(refused));
    }
    passing->trace->finish(*reply);
    passing->answer->json(with_margin(std::move(outcome.body), name, reason));
  };
  passing->call =
      model.upstream->ask(std::move(ask), done, request.stream ? upstream::Upstream::OnEvent(on_event) : upstream::Upstream::OnEvent());
}

}  // namespace margin::server
