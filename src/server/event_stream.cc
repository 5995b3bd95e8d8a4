#include "server/event_stream.h"

#include "server/render.h"

namespace margin::server {
namespace {

void render_outcome(JsonWriter& out, Uuid decision, ApplyStatus status, const std::vector<std::string>& learned) {
  out.key("decision_id").text(decision.text()).key("status").text(name_of(status)).key("updated").open('[');
  for (const std::string& model : learned) out.text(model);
  out.close(']');
}

void render_revert(JsonWriter& out, const OutcomeReverted& revert, std::optional<Uuid> decision) {
  if (!revert.feedback) {
    out.key("source").text(revert.source);
    return;
  }
  out.key("feedback_id").text(revert.feedback->text());
  if (decision) out.key("decision_id").text(decision->text());
}

void render_head(JsonWriter& out, std::string_view pool, std::uint64_t offset, Uuid id, std::int64_t time_ms) {
  out.open('{').key("pool").text(pool).key("offset").number(offset).key("id").text(id.text());
  render_time(out, "time", time_ms);
}

std::string_view type_of(const EventBody& body) {
  struct Names {
    std::string_view operator()(const PoolConfigured&) const { return "configured"; }
    std::string_view operator()(const ModelJoined&) const { return "joined"; }
    std::string_view operator()(const ModelLeft&) const { return "left"; }
    std::string_view operator()(const DecisionMade&) const { return "decision"; }
    std::string_view operator()(const OutcomeObserved&) const { return "outcome"; }
    std::string_view operator()(const OutcomeReverted&) const { return "reverted"; }
    std::string_view operator()(const LearningFrozen&) const { return "frozen"; }
    std::string_view operator()(const LearningResumed&) const { return "resumed"; }
    std::string_view operator()(const FactorPinned&) const { return "pinned"; }
    std::string_view operator()(const StateImported&) const { return "imported"; }
    std::string_view operator()(const FactorUnpinned&) const { return "unpinned"; }
  };
  return std::visit(Names{}, body);
}

std::string frame_of(std::string_view pool, const service::Service::Happened& happened, std::optional<Uuid> decision) {
  const Event& event = happened.event;
  JsonWriter out;
  render_head(out, pool, happened.offset, event.id, event.time_ms);
  if (const auto* made = std::get_if<DecisionMade>(&event.body)) {
    const bool selected = made->selected != kNoAnswer;
    out.key("task_id").text(made->task).key("model");
    selected && !made->abstained ? out.text(made->selected_model) : out.null();
    out.key("p_correct");
    selected ? out.rounded(made->sure.p_correct) : out.null();
    out.key("status").text(margin::name_of(made->sure.status)).key("abstained").flag(made->abstained);
  } else if (const auto* outcome = std::get_if<OutcomeObserved>(&event.body)) {
    render_outcome(out, outcome->decision, happened.result.status, happened.result.learned);
  } else if (const auto* revert = std::get_if<OutcomeReverted>(&event.body)) {
    render_revert(out, *revert, decision);
  } else if (const auto* joined = std::get_if<ModelJoined>(&event.body)) {
    out.key("model").text(joined->model);
  } else if (const auto* left = std::get_if<ModelLeft>(&event.body)) {
    out.key("model").text(left->model);
  }
  out.close('}');
  return "event: " + std::string(type_of(event.body)) + "\ndata: " + out.take() + "\n\n";
}

// What became of feedback that had waited, at the place of the decision that it waited for.
std::string frame_of(std::string_view pool, std::uint64_t offset, const Event& decision, const ApplyResult::Joined& joined) {
  JsonWriter out;
  render_head(out, pool, offset, joined.feedback, decision.time_ms);
  render_outcome(out, decision.id, joined.status, joined.learned);
  return "event: outcome\ndata: " + out.close('}').take() + "\n\n";
}

std::string frame_of(std::string_view pool, const Alarm& alarm) {
  JsonWriter out;
  out.open('{').key("pool").text(pool).key("alarm");
  render_alarm(out, alarm);
  return "event: alarm\ndata: " + out.close('}').take() + "\n\n";
}

}  // namespace

void EventStream::add(http::Stream stream, Wanted wanted) {
  clients_.push_back({std::move(stream), std::move(wanted)});
  const auto client = std::prev(clients_.end());
  client->stream.on_disconnect([this, client] { clients_.erase(client); });
  client->stream.write("retry: 1000\n\n");
}

void EventStream::publish(const service::Service::Happened& happened, std::optional<Uuid> decision) {
  const service::ServedPool& pool = happened.pool;
  for (Client& client : clients_) {
    const Wanted& wanted = client.wanted;
    if (!wanted.caller.owns(pool.name()) || (!wanted.pool.empty() && wanted.pool != pool.name())) continue;
    const std::string shown = wanted.caller.shown(pool.name());
    client.stream.write(frame_of(shown, happened, decision));
    for (const ApplyResult::Joined& joined : happened.result.joined) {
      client.stream.write(frame_of(shown, happened.offset, happened.event, joined));
    }
    for (const Alarm& alarm : pool.insight().new_alarms()) client.stream.write(frame_of(shown, alarm));
  }
}

void EventStream::keep_alive() {
  for (Client& client : clients_) client.stream.write(": alive\n\n");
}

void EventStream::close_unless(const std::function<bool(const Caller&)>& may_listen) {
  std::erase_if(clients_, [&](Client& client) {
    if (may_listen(client.wanted.caller)) return false;
    client.stream.close();
    return true;
  });
}

void EventStream::close() {
  for (Client& client : clients_) client.stream.close();
  clients_.clear();
}

}  // namespace margin::server
