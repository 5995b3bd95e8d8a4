// POST /v1/decide: calibrates what the models said, votes, and answers when the decision is in the log.
#include <memory>

#include "gateway/chat_request.h"
#include "margin/vote.h"
#include "server/app.h"
#include "server/idempotency.h"
#include "server/kept_answers.h"
#include "server/render.h"

namespace margin::server {
namespace {

using service::Applied;
using service::Prepared;
using service::ServedPool;

// The room in which a larger answer was put together is given back.
constexpr std::size_t kRoomKept = std::size_t{64} << 10;

constexpr std::string_view kDefaultChannel = "verbalized";

struct Asked {
  std::string_view pool = "default";  // of the body
  std::optional<Uuid> id;
  Draft draft;
};

// "kind: got x, expected y" without the field, which the reader puts before it.
std::string without_field(const std::string& message) {
  constexpr std::string_view kColon = ": ";
  return message.substr(message.find(kColon) + kColon.size());
}

// A name that no vote has is a value that is wrong, not a thing that is missing.
Error as_asked_vote(Error error) {
  if (error.code != ErrorCode::kNotFound) return error;
  std::string known;
  for (const VoteInfo* info : vote_catalog()) known += (known.empty() ? "" : ", ") + info->identifier;
  return {ErrorCode::kInvalidArgument, error.message + ", expected one of " + known};
}

// A response as the body says it. Recorded by conversion, which makes it where it stays.
struct Said {
  std::string_view model;
  std::optional<std::string_view> answer;
  std::optional<double> confidence;
  std::string_view channel;
  bool abstained = false;

  explicit operator RecordedResponse() const {
    RecordedResponse response;
    // Appended to nothing, cheaper than to replace it.
    response.model.append(model);
    if (answer) {
      response.answer_text.append(*answer);
      response.answer = 0;
    }
    if (confidence) response.confidence.emplace(*confidence);
    response.channel.append(channel);
    response.abstained = abstained;
    return response;
  }
};

template <class Reader>
Said read_response(Reader& in, const config::Limits& limits) {
  Said said;
  said.model = in.required_text("model").value_or(std::string_view());
  said.answer = in.text("answer");
  if (said.answer && said.answer->size() > static_cast<std::size_t>(limits.answer_bytes)) {
    in.fail("answer", "got " + std::to_string(said.answer->size()) + " bytes, expected at most " + std::to_string(limits.answer_bytes));
  }
  said.confidence = in.in_range("confidence", 0.0, 1.0);
  said.channel = in.text("channel").value_or(kDefaultChannel);
  said.abstained = in.flag("abstained").value_or(false);
  return said;
}

// Of an object that is not plain.
[[gnu::noinline]] std::pair<Said, std::optional<Fault>> read_any_response(const Json& item, std::size_t index,
                                                                          const config::Limits& limits) {
  ObjectReader in(item, "responses", index);
  const Said said = read_response(in, limits);
  return {said, in.finish()};
}

std::optional<Fault> read_responses(const Json* list, Asked& asked, const config::Limits& limits) {
  if (list == nullptr) return Fault{"responses", "responses: expected a list of {model, answer, confidence}"};
  if (list->items().size() > static_cast<std::size_t>(limits.responses)) {
    return Fault{"responses",
                 "responses: got " + std::to_string(list->items().size()) + ", expected at most " + std::to_string(limits.responses)};
  }
  std::vector<RecordedResponse>& responses = asked.draft.decision.responses;
  responses.reserve(list->items().size());
  for (const Json& item : list->items()) {
    PlainReader plain(item);
    Said said = read_response(plain, limits);
    if (!plain.finish()) {
      const auto [other, fault] = read_any_response(item, responses.size(), limits);
      if (fault) return fault;
      said = other;
    }
    responses.emplace_back(said);
  }
  return std::nullopt;
}

// All but the responses, whose list is returned, when there is one.
template <class Reader>
const Json* read_asked(Reader& in, Asked& asked) {
  DecisionMade& decision = asked.draft.decision;
  if (const auto pool = in.text("pool")) asked.pool = *pool;
  if (const auto task = in.text("task_id")) {
    if (task->size() > gateway::kTaskBytesMax) in.fail("task_id", gateway::task_too_long(task->size()));
    decision.task = *task;
  }
  if (const auto segment = in.text("segment")) decision.segment = *segment;
  if (const auto kind = in.text("kind")) {
    auto parsed = parse_answer_kind(*kind);
    parsed ? decision.kind = *parsed : (in.fail("kind", without_field(parsed.error().message)), AnswerKind::kExact);
  }
  if (const auto id = in.text("decision_id")) {
    auto parsed = Uuid::parse(*id);
    parsed ? asked.id = *parsed : (in.fail("decision_id", "expected a UUID"), std::nullopt);
  }
  if (const auto vote = in.text("vote")) asked.draft.vote = *vote;
  if (const auto max_error = in.number("max_error")) {
    if (!(*max_error > 0.0 && *max_error < 1.0)) in.fail("max_error", "expected a number in (0, 1)");
    decision.max_error = *max_error;
  }
  if (const auto rate = in.in_range("audit_rate", 0.0, 1.0)) asked.draft.audits.rate = *rate;
  decision.probe = in.flag("probe").value_or(false);
  return in.list("responses");
}

std::optional<Fault> read_body(const Json& body, Asked& asked, const config::Limits& limits) {
  PlainReader plain(body);
  const Json* responses = read_asked(plain, asked);
  if (!plain.finish()) {
    ObjectReader in(body, "");
    responses = read_asked(in, asked);  // what was read is read again
    if (auto fault = in.finish()) return fault;
  }
  return read_responses(responses, asked, limits);
}

// `said`: where the answers are.
std::string body_of(Uuid id, const DecisionMade& decision, const std::vector<RecordedResponse>& said) {
  const auto answers = [&](std::size_t i) -> std::optional<std::string_view> {
    return said[i].answer == kNoAnswer ? std::nullopt : std::optional<std::string_view>(said[i].answer_text);
  };

  thread_local JsonWriter out;
  out.clear();
  out.open('{');
  render_decision(out, id, decision, answers);
  std::string text(out.close('}').str());
  if (text.size() > kRoomKept) out = {};
  return text;
}

http::Response id_is_taken() { return refusal(409, "conflict", "decision_id: a decision with this id exists", "decision_id"); }

// The same request again: the decision it became, as the log has it.
void repeat(App& app, const SharedAnswer& answer, ServedPool& pool, Uuid id, const std::vector<RecordedResponse>& said) {
  auto record = app.service().look_up(pool, id);
  if (!record) return answer->refuse(record.error());
  const auto* decision = *record ? std::get_if<DecisionMade>(&(*record)->event.body) : nullptr;
  if (decision == nullptr || decision->responses.size() != said.size()) {
    return answer->send(refusal(422, "idempotency_key_reused", "Idempotency-Key: was used for something else"));
  }
  answer->add_header("x-margin-decision-id", id.text());
  // The log may not keep the answers.
  answer->json(body_of(id, *decision, said));
}

}  // namespace

void decide(App& app, const Call& call) {
  const Json* body = server::body_of(app, call);
  if (body == nullptr) return;
  Asked asked;
  if (auto fault = read_body(*body, asked, app.config().limits)) return call.answer->refuse(*fault);
  DecisionMade& decision = asked.draft.decision;
  ServedPool* pool = find_pool(app, call, asked.pool);
  if (pool == nullptr) return;
  const auto mark = request_mark(call);
  if (mark) {
    switch (const Repeated repeated = seen_before(app, call.caller, *mark); repeated.kind) {
      case Repeated::kNew: break;
      case Repeated::kSame: return repeat(app, call.answer, *pool, repeated.event, decision.responses);
      case Repeated::kOtherBody: return call.answer->send(idempotency_conflict());
      case Repeated::kUnderWay: return call.answer->send(idempotency_under_way());
    }
  }
  if (asked.id && pool->pool().knows(*asked.id)) {
    return call.answer->send(id_is_taken());
  }
  const std::int64_t now_ms = app.service().now_ms();
  const Uuid id = asked.id ? *asked.id : app.service().new_id(now_ms);
  asked.draft.audits.seed = id.low;
  const bool other_vote = !asked.draft.vote.empty();
  if (Status decided = pool->pool().decide(asked.draft); !decided) {
    return call.answer->refuse(other_vote ? as_asked_vote(decided.error()) : decided.error());
  }
  std::string text = body_of(id, decision, decision.responses);
  keep_answers(decision, app.config().store.answers);

  Prepared prepared = app.service().prepare(*pool, std::move(decision), id, now_ms);
  if (mark) prepared.mark = mark->mark;
  prepared.note = call.caller.source;
  call.answer->add_header("x-margin-decision-id", id.text());
  const Status taken =
      app.service().commit(std::move(prepared), [answer = call.answer, text = std::move(text)](const Result<Applied>& applied) mutable {
        if (!applied) return answer->refuse(applied.error());
        if (applied->result.error) return answer->refuse(*applied->result.error);
        // Another that came at the same time was written first.
        if (applied->result.status == ApplyStatus::kDuplicate) return answer->send(id_is_taken());
        answer->json(std::move(text));
      });
  if (!taken) call.answer->refuse(overloaded(taken.error()));
}

}  // namespace margin::server
