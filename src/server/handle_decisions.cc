// /v1/decisions: what was decided, and why. The explanation is what was recorded when the decision was made; outcomes are what has come
// since. Its texts may be erased.
#include <algorithm>
#include <charconv>

#include "base/utc.h"
#include "server/app.h"
#include "server/given_id.h"
#include "server/query.h"
#include "server/render.h"

namespace margin::server {
namespace {

using service::ServedPool;

constexpr std::size_t kListMax = 1000;

void render_outcomes(JsonWriter& out, const DecisionView& view) {
  out.key("outcomes").open('[');
  for (const ResponseView& response : view.responses) {
    if (!response.outcome) continue;
    out.open('{').key("model").text(response.model).key("channel").text(response.channel).key("outcome").number(*response.outcome);
    out.key("learned").flag(response.learned).key("feedback_id").text(response.feedback->text()).close('}');
  }
  out.close(']');
}

// The counterfactual: what would have been selected without each decisive model.
void render_without(JsonWriter& out, const DecisionMade& decision) {
  out.key("without").open('[');
  for (const DecisiveModel& decisive : decision.decisive) {
    const auto giver = std::find_if(decision.responses.begin(), decision.responses.end(), [&](const RecordedResponse& response) {
      return decisive.answer != kNoAnswer && response.answer == decisive.answer && !response.answer_text.empty();
    });
    out.open('{').key("model").text(decisive.model).key("answer");
    giver == decision.responses.end() ? out.null() : out.text(giver->answer_text);
    out.close('}');
  }
  out.close(']');
}

struct FoundDecision {
  ServedPool& pool;
  Record record;
};

// The decision that the path names, or an answer that the caller has none.
std::optional<FoundDecision> find_decision(App& app, const Call& call) {
  const auto id = parse_given_id(call.arguments[0]);
  if (!id) {
    call.answer->refuse(Fault{"decision_id", "decision_id: expected a UUID"});
    return std::nullopt;
  }
  for (ServedPool* pool : app.service().pools_seen_by(call.caller.tenant)) {
    auto record = app.service().look_up(*pool, *id);
    if (!record) {
      call.answer->refuse(record.error());
      return std::nullopt;
    }
    if (*record && std::holds_alternative<DecisionMade>((*record)->event.body)) return FoundDecision{*pool, std::move(**record)};
  }
  call.answer->send(refusal(404, "not_found", "decision_id: no such decision", "decision_id"));
  return std::nullopt;
}

std::string erasure_json(Uuid decision, const Erasure& erased) {
  JsonWriter out;
  out.open('{').key("decision_id").text(decision.text()).key("erased").number(erased.records).key("still_needed").open('[');
  for (const Uuid feedback : erased.needed) out.text(feedback.text());
  return out.close(']').close('}').take();
}

void answer_record(const Call& call, const ServedPool& pool, const Record& record) {
  const auto& decision = std::get<DecisionMade>(record.event.body);
  JsonWriter out;
  out.open('{').key("pool").text(call.caller.shown(pool.name())).key("offset").number(record.offset);
  render_time(out, "time", record.event.time_ms);
  out.key("task_id").text(decision.task).key("segment").text(decision.segment).key("kind").text(margin::name_of(decision.kind));
  render_decision(out, record.event.id, decision, [&](std::size_t i) -> std::optional<std::string_view> {
    const std::string& text = decision.responses[i].answer_text;
    return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
  });
  const auto view = pool.pool().decision(record.event.id);
  render_without(out, decision);
  out.key("expired").flag(!view.has_value());
  if (view) render_outcomes(out, *view);
  call.answer->json(out.close('}').take());
}

void answer_rows(const Call& call, const ServedPool& pool, const std::vector<const service::DecisionRow*>& rows) {
  JsonWriter out;
  out.open('{').key("decisions").open('[');
  for (const service::DecisionRow* row : rows) render_decision_summary(out, call.caller.shown(pool.name()), *row);
  call.answer->json(out.close(']').close('}').take());
}

std::optional<Fault> read_limit(std::string_view query, std::size_t& count) {
  const auto limit = http::query_value(query, "limit");
  if (!limit) return std::nullopt;
  const auto [end, status] = std::from_chars(limit->data(), limit->data() + limit->size(), count);
  if (status == std::errc() && end == limit->data() + limit->size() && count > 0 && count <= kListMax) return std::nullopt;
  return Fault{"limit", "limit: expected a whole number from 1 to " + std::to_string(kListMax)};
}

std::optional<Fault> read_status(std::string_view query, std::optional<TrustStatus>& status) {
  const auto value = http::query_value(query, "status");
  if (!value) return std::nullopt;
  for (const auto known : {TrustStatus::kCold, TrustStatus::kDrifting, TrustStatus::kStale, TrustStatus::kCalibrated}) {
    if (*value == margin::name_of(known)) status = known;
  }
  return status ? std::nullopt : std::optional(Fault{"status", "status: expected cold, drifting, stale or calibrated"});
}

std::optional<Fault> read_filter(std::string_view query, service::DecisionFilter& filter, std::size_t& count) {
  filter.text = http::query_value(query, "q").value_or("");
  filter.model = http::query_value(query, "model").value_or("");
  if (const auto before = http::query_value(query, "before")) {
    const auto id = parse_given_id(*before);
    if (!id) return Fault{"before", "before: expected the id of a decision"};
    filter.before = *id;
  }
  if (auto fault = read_limit(query, count)) return fault;
  if (auto fault = read_flag(query, "answered", filter.answered)) return fault;
  if (auto fault = read_flag(query, "graded", filter.graded)) return fault;
  return read_status(query, filter.status);
}

}  // namespace

void list_decisions(App& app, const Call& call) {
  service::DecisionFilter filter;
  std::size_t count = 100;
  if (auto fault = read_filter(call.request.query, filter, count)) return call.answer->refuse(*fault);
  const auto name = http::query_value(call.request.query, "pool");
  const ServedPool* pool = find_pool(app, call, name ? *name : "default");
  if (pool == nullptr) return;
  answer_rows(call, *pool, pool->insight().decisions().search(filter, count));
}

void list_queue(App& app, const Call& call) {
  const ServedPool* pool = find_pool(app, call, call.arguments[0]);
  if (pool == nullptr) return;
  std::size_t count = 50;
  if (auto fault = read_limit(call.request.query, count)) return call.answer->refuse(*fault);
  answer_rows(call, *pool, pool->queue(count, app.service().now_ms()));
}

void show_decision(App& app, const Call& call) {
  if (const auto found = find_decision(app, call)) answer_record(call, found->pool, found->record);
}

void erase_texts(App& app, const Call& call) {
  const auto found = find_decision(app, call);
  if (!found) return;
  if (found->record.offset >= found->pool.next_offset()) {
    return call.answer->send(refusal(503, "overloaded", "decision_id: it is being written, try again soon"));
  }
  const Uuid id = found->record.event.id;
  const std::string& by = call.caller.source;
  std::string note = "erased " + internal::utc_text(app.service().now_ms()) + " by " + by;
  app.service().erase(found->pool, id, std::move(note), [&app, answer = call.answer, id, by](const Result<Erasure>& erased) {
    if (!erased) return answer->refuse(erased.error());
    app.chats().forget(id);
    app.journal().info("texts erased", {{"decision", id.text()}, {"by", by}, {"events", static_cast<std::int64_t>(erased->records)}});
    answer->json(erasure_json(id, *erased));
  });
}

}  // namespace margin::server
