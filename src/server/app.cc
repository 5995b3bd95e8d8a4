#include "server/app.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/text.h"
#include "config/pool_check.h"
#include "server/idempotency.h"
#include "server/query.h"
#include "server/request_log.h"

namespace margin::server {
namespace {

// An imported state becomes an event, and has to fit into one with what goes beside it.
constexpr std::size_t kStateBytesMax = std::size_t{63} << 20;
static_assert(kStateBytesMax < kRecordBytesMax);

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string_view endpoint_of(const Route* route) { return route == nullptr ? std::string_view("unknown") : route->pattern; }

// The same for every path that is not there: nobody can tell by it which of them operators have.
http::Response no_such_path(Audience audience) {
  return refusal(404, "not_found",
                 audience == Audience::kAll
                     ? "path: no such path; /openapi.json lists them"
                     : "path: no such path here; /openapi.json lists them, and operators' are on server.admin_listen");
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = internal::first_utf8(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool is_json(std::string_view content_type) {
  if (content_type == http::Response::kJson) return true;  // as it mostly is
  const auto ends = [](char c) { return c == ';' || c == ' ' || c == '\t'; };
  const std::string_view type(content_type.begin(), std::find_if(content_type.begin(), content_type.end(), ends));
  constexpr std::array kTaken = {"application/json", "application/x-ndjson", "application/octet-stream"};
  return std::any_of(kTaken.begin(), kTaken.end(), [&](std::string_view taken) { return http::same_name(type, taken); });
}

// What a revert takes back was said of a decision, which only the log knows by the feedback's id.
std::optional<Uuid> reverted_decision(service::Service& service, const service::Service::Happened& happened) {
  const auto* revert = std::get_if<OutcomeReverted>(&happened.event.body);
  if (revert == nullptr || !revert->feedback) return std::nullopt;
  const auto record = service.log().find(happened.pool.name(), *revert->feedback);
  const auto* said = record && *record ? std::get_if<OutcomeObserved>(&(*record)->event.body) : nullptr;
  return said == nullptr ? std::nullopt : std::optional(said->decision);
}

}  // namespace

App::App(AppParts parts)
    : parts_(std::move(parts)),
      parser_(static_cast<std::size_t>(parts_.config.limits.json_depth)),
      limiter_(access::kKeysMax),
      started_ms_(parts_.service.now_ms()) {
  parts_.service.on_applied([this](const service::Service::Happened& happened) {
    if (events_.size() > 0) events_.publish(happened, reverted_decision(parts_.service, happened));
  });
}

void App::Entrance::handle(const http::Request& request, http::Reply reply) { app_.handle(request, std::move(reply), audience_); }

std::size_t App::Entrance::body_bytes_max(const http::Request& head, std::size_t standard) const {
  return app_.body_bytes_max(head, standard, audience_);
}

void App::handle(const http::Request& request, http::Reply reply, Audience audience) {
  Match matched = match(request.method, request.path, audience);
  const bool logged = config().log.requests != config::LoggedRequests::kOff;
  const std::string id = logged ? request_id(request, parts_.service.new_id()) : std::string();
  // So small that the function needs no memory of its own.
  Answer::OnSent count = [this, route = matched.route](const Answer::Sent& sent) {
    metrics_.request(endpoint_of(route), sent.status, sent.took);
  };
  if (logged) {
    count = [this, route = matched.route, id, &request](const Answer::Sent& sent) {
      metrics_.request(endpoint_of(route), sent.status, sent.took);
      log_request(parts_.journal, config().log.requests, {request.method, endpoint_of(route), id, sent});
    };
  }
  auto answer = std::make_shared<Answer>(std::move(reply), std::move(count));
  if (logged) answer->add_header("x-request-id", id);
  if (matched.route == nullptr) {
    if (matched.allowed.empty()) return answer->send(no_such_path(audience));
    answer->add_header("Allow", matched.allowed);
    return answer->send(refusal(405, "method_not_allowed", "method: expected " + matched.allowed));
  }
  // Of two, nobody could tell which is meant.
  for (const std::string_view name : {"Authorization", "Idempotency-Key"}) {
    const auto named = [&](const http::Header& header) { return http::same_name(header.name, name); };
    if (const auto given = std::count_if(request.headers.begin(), request.headers.end(), named); given > 1) {
      return answer->send(refusal(400, "invalid_value", std::string(name) + ": got " + std::to_string(given) + " of them, expected one"));
    }
  }
  Call call{request, std::move(matched.arguments), {}, std::move(answer)};
  if (!admit(*matched.route, call)) return;
  // As for bodies: a name that is not text could not be said in JSON. One that an older server took can still be taken away.
  if (request.method == "PUT" && !std::all_of(call.arguments.begin(), call.arguments.end(), is_utf8)) {
    return call.answer->refuse(Fault{"", "path: expected UTF-8, percent-encoded"});
  }
  if (!request.query.empty() && matched.route->knows_its_query()) {
    if (auto fault = check_query(request.query, matched.route->query)) return call.answer->refuse(*fault);
  }
  if (!request.body.empty() && !matched.route->takes_body()) {
    return call.answer->refuse(
        Fault{"", "body: got " + std::to_string(request.body.size()) + " bytes, expected none for this method and path"});
  }
  if (matched.route->changes() && !request.body.empty() && !is_json(request.header("Content-Type").value_or(""))) {
    return call.answer->send(refusal(415, "unsupported_media_type", "Content-Type: expected application/json"));
  }
  if (const auto key = request.header("Idempotency-Key"); key && (key->empty() || key->size() > kIdempotencyKeyBytesMax)) {
    return call.answer->send(refusal(
        400, "invalid_value",
        "Idempotency-Key: got " + std::to_string(key->size()) + " bytes, expected 1 to " + std::to_string(kIdempotencyKeyBytesMax)));
  }
  matched.route->handle(*this, call);
}

std::size_t App::body_bytes_max(const http::Request& head, std::size_t standard, Audience audience) const {
  const bool chat = head.method == "POST" && head.path.ends_with("/v1/chat/completions");
  const bool state = head.method == "PUT" && head.path.starts_with("/v1/pools/") && head.path.ends_with("/state");
  const bool experiment = head.method == "POST" && head.path == "/v1/experiments";
  if (!chat && ((!state && !experiment) || audience == Audience::kClients)) return standard;
  const std::size_t allowed = chat    ? static_cast<std::size_t>(config().gateway.body_bytes)
                              : state ? kStateBytesMax
                                      : experiments_.limits().log_bytes_max;
  const std::size_t larger = std::max(standard, allowed);
  if (parts_.keys.empty()) return head.peer_is_loopback ? larger : standard;
  const auto key = key_of(head);
  return key && (*key)->grant.scopes.has(chat ? access::Scope::kInfer : access::Scope::kAdmin) ? larger : standard;
}

Result<const access::Key*> App::key_of(const http::Request& request) const {
  const std::string_view header = request.header("Authorization").value_or("");
  constexpr std::string_view kBearer = "Bearer ";
  if (!http::same_name(header.substr(0, kBearer.size()), kBearer)) return {ErrorCode::kNotFound, ""};
  return parts_.keys.authenticate(header.substr(kBearer.size()));
}

// Where there never was a key only this machine is served, and only programs: a page that a browser shows could otherwise teach the pool.
bool App::admit_local(const Route& route, Call& call) {
  const http::Request& request = call.request;
  if (!request.peer_is_loopback) {
    call.answer->send(refusal(403, "no_keys", "no key is configured, so only this machine is served; margin keys create makes one"));
    return false;
  }
  const auto origin = request.header("Origin");
  const std::string_view host = request.header("Host").value_or("localhost");
  // A page of another local program has another port, and is not ours.
  const bool foreign = !http::is_loopback(http::without_port(host)) || (origin && !http::is_same_origin(*origin, host));
  if (route.scope && foreign) {
    call.answer->send(refusal(403, "foreign_origin",
                              "Host, Origin: expected this machine's own name, and no page but this server's, while no key is configured"));
    return false;
  }
  call.caller.source = call.caller.name = "local";
  for (std::size_t i = 0; i < access::kScopeNames.size(); ++i) call.caller.scopes.add(static_cast<access::Scope>(i));
  return true;
}

bool App::admit(const Route& route, Call& call) {
  if (!route.scope) return true;
  const bool open_metrics = route.handle == show_metrics && parts_.config.server.metrics == config::MetricsAccess::kOpen;
  if (open_metrics) return true;
  if (parts_.keys.empty()) return admit_local(route, call);

  Answer& answer = *call.answer;
  const auto key = key_of(call.request);
  if (!key) {
    answer.add_header("WWW-Authenticate", "Bearer");
    answer.send(refusal(401, "invalid_api_key", "Authorization: expected Bearer and a valid key"));
    return false;
  }
  answer.belongs_to((*key)->id);
  const access::KeyGrant& grant = (*key)->grant;
  if (!grant.scopes.has(*route.scope)) {
    answer.send(refusal(403, "missing_scope",
                        "key " + (*key)->id + ": has scopes " + grant.scopes.text() + ", expected " +
                            std::string(access::kScopeNames[static_cast<std::size_t>(*route.scope)])));
    return false;
  }
  const double rate = grant.requests_per_second > 0.0 ? grant.requests_per_second : parts_.config.limits.requests_per_second;
  if (const std::int64_t wait = limiter_.wait_ms((*key)->id, rate, steady_ms()); wait > 0) {
    metrics_.rate_limited();
    answer.send(too_early(wait, "rate_limit_exceeded", "key " + (*key)->id + ": too many requests, try again later"));
    return false;
  }
  call.caller = {
      .key = (*key)->id, .tenant = grant.tenant, .source = (*key)->id, .name = grant.name, .weight = grant.weight, .scopes = grant.scopes};
  return true;
}

void App::reload(config::Config config, access::KeyRing keys) {
  parts_.config = std::move(config);
  parts_.keys = std::move(keys);
  parser_.set_depth_max(static_cast<std::size_t>(parts_.config.limits.json_depth));
  events_.close_unless([this](const Caller& caller) {
    if (caller.key.empty()) return parts_.keys.empty();
    const access::Key* key = parts_.keys.find_valid(caller.key);
    return key != nullptr && key->grant.tenant == caller.tenant && key->grant.scopes.has(access::Scope::kRead);
  });
}

service::ServedPool& App::unmade_default(const std::string& stored) {
  Pool pool;
  pool.apply({.id = {0, 1},
              .time_ms = parts_.service.now_ms(),
              .body = config::pool_configured(parts_.config, parts_.config.pools.at(std::string(service::kDefaultPool)))});
  unmade_ = std::make_unique<service::ServedPool>(stored, std::move(pool), 0, service::ServedPool::Limits{});
  return *unmade_;
}

void App::drain() {
  draining_ = true;
  parts_.gateway.drain();
  events_.close();
}

std::string pool_name_fault(const Caller& caller, std::string_view name) {
  // A tenant's pools have its name before theirs already.
  if (!caller.tenant.empty() && name.find('/') != std::string_view::npos) {
    return "pool: got " + internal::printable(name) + ", expected a name without /";
  }
  const Status legal = config::check_pool_name(name);
  return legal ? "" : "pool: " + legal.error().message;
}

service::ServedPool* find_pool(App& app, const Call& call, std::string_view name) {
  if (std::string fault = pool_name_fault(call.caller, name); !fault.empty()) {
    call.answer->refuse(Fault{"pool", std::move(fault)});
    return nullptr;
  }
  const std::string stored = call.caller.stored(name);
  const bool reads = call.request.method == "GET" || call.request.method == "HEAD";
  service::ServedPool* const pool = app.service().find(stored);
  if (pool != nullptr && (reads || pool->next_offset() > 0)) return pool;
  // A pool named default always exists, for every tenant; so do those of the file, one of which the store may not have taken yet.
  if (pool != nullptr || name == service::kDefaultPool) {
    if (reads) return &app.unmade_default(stored);
    auto made = app.service().find_or_make(stored);
    if (!made) call.answer->refuse(made.error());
    return made ? *made : nullptr;
  }
  call.answer->send(refusal(404, "not_found", "pool: no pool named " + std::string(name) + "; PUT /v1/pools/NAME makes one", "pool"));
  return nullptr;
}

const config::PoolSettings* settings_of(const App& app, const service::ServedPool& pool) {
  const auto& pools = app.config().pools;
  const auto found = pools.find(pool.name());
  if (found != pools.end()) return &found->second;
  // A tenant's own default pool is made as the file's, and is bound as that is.
  return pool.name().ends_with("/default") ? &pools.at("default") : nullptr;
}

const Json* body_of(App& app, const Call& call) {
  auto parsed = app.parser().parse(call.request.body);
  if (parsed) return *parsed;
  call.answer->send(refusal(400, "invalid_json", parsed.error().message));
  return nullptr;
}

}  // namespace margin::server
