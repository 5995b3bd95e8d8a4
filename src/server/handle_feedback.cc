// POST /v1/feedback, /v1/feedback/batch, /v1/feedback/revert: what became of decisions. Whatever is accepted is in the log; whatever cannot
// be applied gets an error of its own.
#include <functional>
#include <memory>

#include "base/text.h"
#include "margin/uuid.h"
#include "server/app.h"
#include "server/idempotency.h"
#include "server/render.h"
#include "server/tracing.h"

namespace margin::server {
namespace {

using service::Applied;
using service::Prepared;
using service::ServedPool;

struct Given {
  std::string pool;  // where feedback waits whose decision is not known; empty: default
  bool replace = false;
  std::string observed_at;
  std::optional<trace::Context> traced;  // the trace that sent it
  OutcomeObserved outcome;
};

// The JSON of a receipt, or a refusal.
using Answered = std::function<void(http::Response)>;

// Ids come as clients have them: with our prefix from a chat completion's id, or as 32 digits from a trace.
std::optional<Uuid> parse_id(std::string_view text) {
  constexpr std::string_view kPrefix = "chatcmpl-";
  if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
  std::string dashed(text);
  if (dashed.size() == 32) {
    for (const std::size_t at : {8U, 13U, 18U, 23U}) dashed.insert(at, "-");
  }
  auto parsed = Uuid::parse(dashed);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

void read_outcomes(ObjectReader& in, std::vector<Grade>& grades) {
  const Json* outcomes = in.object("outcomes");
  if (outcomes == nullptr) return;
  for (const Json& member : outcomes->items()) {
    const std::string path = "outcomes." + std::string(member.key());
    if (member.type() != Json::Type::kNumber && member.type() != Json::Type::kFlag) {
      return in.fail(path, "got " + std::string(name_of(member.type())) + ", expected a number in [0, 1]");
    }
    if (!(member.number() >= 0.0 && member.number() <= 1.0)) {
      return in.fail(path, "got " + internal::json_number(member.number()) + ", expected a number in [0, 1]");
    }
    grades.push_back({.model = std::string(member.key()), .outcome = member.number()});
  }
  if (grades.empty()) in.fail("outcomes", "expected at least one model");
}

std::optional<double> read_outcome(ObjectReader& in) {
  const Json* outcome = in.any("outcome");
  if (outcome == nullptr) return std::nullopt;
  const bool number = outcome->type() == Json::Type::kNumber || outcome->type() == Json::Type::kFlag;
  if (!number || !(outcome->number() >= 0.0 && outcome->number() <= 1.0)) {
    in.fail("outcome", "expected a number in [0, 1], or true or false");
    return std::nullopt;
  }
  return outcome->number();
}

void read_decision_id(ObjectReader& in, Given& given) {
  int named = 0;
  for (const std::string_view alias : {"decision_id", "inference_id", "trace_id"}) {
    const auto text = in.text(alias);
    if (!text) continue;
    ++named;
    const auto id = parse_id(*text);
    id ? given.outcome.decision = *id : (in.fail(alias, "got " + internal::printable(*text) + ", expected a UUID"), Uuid{});
  }
  if (named != 1) in.fail("decision_id", "expected it, or one of inference_id and trace_id, and only one of them");
}

std::optional<Fault> read_given(const Json& body, const Caller& caller, Given& given) {
  ObjectReader in(body, "");
  read_decision_id(in, given);
  if (const auto pool = in.text("pool")) given.pool = *pool;
  if (const auto gold = in.text("correct_answer")) given.outcome.gold = std::string(*gold);
  given.outcome.selected = read_outcome(in);
  read_outcomes(in, given.outcome.grades);
  const int forms = (given.outcome.gold ? 1 : 0) + (given.outcome.selected ? 1 : 0) + (given.outcome.grades.empty() ? 0 : 1);
  if (forms != 1) in.fail("outcome", "expected exactly one of correct_answer, outcome and outcomes");
  const auto weight = in.number("weight");
  if (weight && !(*weight > 0.0 && *weight <= 1.0)) in.fail("weight", "expected a number in (0, 1]");
  given.outcome.weight = weight.value_or(1.0) * caller.weight;
  given.outcome.source = caller.source;
  given.replace = in.flag("replace").value_or(false);
  if (const Json* at = in.any("observed_at")) {
    if (at->type() != Json::Type::kText && at->type() != Json::Type::kNumber) in.fail("observed_at", "expected a time");
    given.observed_at = at->type() == Json::Type::kText ? std::string(at->text().substr(0, 64)) : internal::json_number(at->number());
  }
  return in.finish();
}

http::Response receipt(Uuid id, std::string_view status, const std::vector<std::string>& updated,
                       const std::vector<std::string>& not_learned = {}) {
  JsonWriter out;
  out.open('{').key("feedback_id").text(id.text()).key("status").text(status).key("updated").open('[');
  for (const std::string& model : updated) out.text(model);
  out.close(']');
  if (!not_learned.empty()) {
    out.key("not_learned").open('[');
    for (const std::string& model : not_learned) out.text(model);
    out.close(']');
  }
  http::Response response;
  response.body = out.close('}').take();
  return response;
}

// The pool speaks of grades, the request of outcomes.
Error as_asked(Error error) {
  if (error.message.starts_with("grades")) error.message.replace(0, error.message.find(':'), "outcomes");
  return error;
}

// How grades compare with what is already recorded.
struct Compared {
  bool fresh = false;
  std::vector<Uuid> contradicted;  // feedback that said otherwise
  std::optional<Uuid> same;        // feedback that said the same
};

Compared compare(const DecisionView& decision, const std::vector<Grade>& grades) {
  Compared compared;
  for (const Grade& grade : grades) {
    for (const ResponseView& response : decision.responses) {
      if (response.model != grade.model || (!grade.channel.empty() && response.channel != grade.channel)) continue;
      if (!response.outcome) {
        compared.fresh = true;
      } else if (*response.outcome == grade.outcome) {
        compared.same = response.feedback;
      } else if (std::find(compared.contradicted.begin(), compared.contradicted.end(), *response.feedback) == compared.contradicted.end()) {
        compared.contradicted.push_back(*response.feedback);
      }
    }
  }
  return compared;
}

void commit_outcome(App& app, ServedPool& pool, Given given, std::optional<RequestMark> mark, const Answered& answered) {
  // For the trace, once it is recorded.
  const auto told = app.tracer()->enabled() ? std::make_shared<const OutcomeObserved>(given.outcome) : nullptr;
  Prepared prepared = app.service().prepare(pool, std::move(given.outcome));
  prepared.mark = mark;
  prepared.note = given.observed_at.empty() ? "" : "observed_at=" + given.observed_at;
  const Uuid id = prepared.event.id;
  const Status taken =
      app.service().commit(std::move(prepared), [&app, id, answered, told, traced = given.traced](const Result<Applied>& applied) {
        if (!applied) return answered(refusal(applied.error()));
        const ApplyResult& result = applied->result;
        if (result.error) return answered(refusal(as_asked(*result.error)));
        if (told) trace_feedback(app, traced, *told);
        answered(receipt(id, name_of(result.status), result.learned, result.unlearned));
      });
  if (!taken) answered(refusal(overloaded(taken.error())));
}

// The contradicted feedback is taken back first; the new one then counts in the fold that follows.
bool take_back(App& app, ServedPool& pool, const std::vector<Uuid>& feedbacks, const Caller& caller, const Answered& answered) {
  for (const Uuid feedback : feedbacks) {
    if (Status status = app.service().can_revert(pool, feedback); !status) {
      answered(refusal(status.error()));
      return false;
    }
  }
  for (const Uuid feedback : feedbacks) {
    Prepared prepared = app.service().prepare(pool, OutcomeReverted{.feedback = feedback, .source = ""});
    prepared.note = caller.source;
    if (Status taken = app.service().commit(std::move(prepared), [](const Result<Applied>&) {}); !taken) {
      answered(refusal(overloaded(taken.error())));
      return false;
    }
  }
  return true;
}

ServedPool* pool_for(App& app, const Caller& caller, const Given& given, const Answered& answered) {
  const std::string name = given.pool.empty() ? "default" : given.pool;
  ServedPool* pool = app.service().find(caller.stored(name));
  // Clients may bring ids of their own, so two pools may know one: the pool that is named comes first, and one's own before another's.
  if (pool != nullptr && !given.pool.empty() && pool->pool().knows(given.outcome.decision)) return pool;
  if (ServedPool* knows = app.service().find_decision(given.outcome.decision, caller.prefix())) return knows;
  if (app.service().find_decision(given.outcome.decision, "") != nullptr) {
    answered(refusal(404, "not_found", "decision_id: no such decision", "decision_id"));
    return nullptr;
  }
  if (pool == nullptr && name == "default") {
    auto made = app.service().find_or_make(caller.stored(name));
    if (!made) answered(refusal(made.error()));
    return made ? *made : nullptr;
  }
  if (pool == nullptr) answered(refusal(404, "not_found", "pool: no pool named " + internal::printable(name), "pool"));
  return pool;
}

void take(App& app, const Call& call, const Json& body, std::optional<RequestMark> mark, const Answered& answered) {
  const Caller& caller = call.caller;
  Given given;
  given.traced = caller_context(call.request);
  if (auto fault = read_given(body, caller, given)) return answered(refusal(*fault));
  ServedPool* pool = pool_for(app, caller, given, answered);
  if (pool == nullptr) return;
  if (mark) {
    switch (const Repeated repeated = seen_before(*pool, *mark); repeated.kind) {
      case Repeated::kNew: break;
      case Repeated::kSame: return answered(receipt(repeated.event, "duplicate", {}));
      case Repeated::kOtherBody: return answered(idempotency_conflict());
      case Repeated::kUnderWay: return answered(idempotency_under_way());
    }
  }
  if (const auto decision = pool->pool().decision(given.outcome.decision)) {
    auto grades = pool->pool().resolve(given.outcome);
    if (!grades) return answered(refusal(as_asked(grades.error())));
    given.outcome.grades = std::move(*grades);
    given.outcome.gold.reset();
    given.outcome.selected.reset();
    const Compared compared = compare(*decision, given.outcome.grades);
    if (!compared.contradicted.empty() && !given.replace) {
      return answered(
          refusal(409, "conflict",
                  "outcome: feedback " + compared.contradicted.front().text() + " said otherwise; send \"replace\": true to take it back",
                  "outcome"));
    }
    if (compared.contradicted.empty() && !compared.fresh && compared.same) return answered(receipt(*compared.same, "duplicate", {}));
    if (!take_back(app, *pool, compared.contradicted, caller, answered)) return;
  }
  commit_outcome(app, *pool, std::move(given), mark, answered);
}

// A batch's answers, in the order of its lines, sent when the last has come.
struct Batch {
  SharedAnswer answer;
  std::vector<std::string> results;
  std::size_t open = 0;

  void settle(std::size_t i, std::size_t number, const http::Response& response) {
    // The members of the receipt or error go behind the line's number.
    results[i] = "{\"line\":" + std::to_string(number) + ",\"code\":" + std::to_string(response.status) + "," + response.body.substr(1);
    if (--open == 0) finish();
  }
  void finish() {
    http::Response response;
    response.content_type = "application/x-ndjson";
    for (const std::string& result : results) response.body += result + "\n";
    answer->send(std::move(response));
  }
};

struct Line {
  std::size_t number = 0;  // in the body, from 1
  std::string text;
};

// Those that are not blank.
std::vector<Line> split_lines(std::string_view body) {
  std::vector<Line> lines;
  for (std::size_t number = 1; !body.empty(); ++number) {
    const std::string_view line = body.substr(0, body.find('\n'));
    body.remove_prefix(std::min(body.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.push_back({number, std::string(line)});
  }
  return lines;
}

}  // namespace

void feedback(App& app, const Call& call) {
  const Json* body = body_of(app, call);
  if (body == nullptr) return;
  take(app, call, *body, request_mark(call), [answer = call.answer](http::Response response) { answer->send(std::move(response)); });
}

void feedback_batch(App& app, const Call& call) {
  const std::vector<Line> lines = split_lines(call.request.body);
  const auto lines_max = static_cast<std::size_t>(app.config().limits.batch_lines);
  if (lines.empty()) return call.answer->send(refusal(400, "invalid_value", "body: expected one JSON object per line"));
  if (lines.size() > lines_max) {
    return call.answer->send(refusal(
        413, "batch_too_large", "body: got " + std::to_string(lines.size()) + " lines, expected at most " + std::to_string(lines_max)));
  }
  const auto mark = request_mark(call);
  auto batch = std::make_shared<Batch>(Batch{call.answer, std::vector<std::string>(lines.size()), lines.size()});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const Answered answered = [batch, i, number = line.number](const http::Response& response) { batch->settle(i, number, response); };
    auto parsed = app.parser().parse(line.text);
    if (!parsed) {
      answered(refusal(400, "invalid_json", parsed.error().message));
      continue;
    }
    // Each line is a request of its own: a batch that was cut in the middle may be sent again whole.
    std::optional<RequestMark> line_mark = mark;
    if (line_mark) line_mark->key = digest_of(mark->key.hex() + "#" + std::to_string(i));
    if (line_mark) line_mark->body = digest_of(line.text);
    take(app, call, **parsed, line_mark, answered);
  }
}

void revert_feedback(App& app, const Call& call) {
  const Json* body = body_of(app, call);
  if (body == nullptr) return;
  ObjectReader in(*body, "");
  const auto feedback = in.text("feedback_id");
  const auto source = in.text("source");
  const std::string pool_name(in.text("pool").value_or("default"));
  std::optional<Uuid> id;
  if (feedback && !(id = parse_id(*feedback))) in.fail("feedback_id", "expected a UUID");
  if (feedback.has_value() == source.has_value()) in.fail("feedback_id", "expected either feedback_id or source");
  if (auto fault = in.finish()) return call.answer->refuse(*fault);
  ServedPool* pool = find_pool(app, call, pool_name);
  if (pool == nullptr) return;
  if (Status status = id ? app.service().can_revert(*pool, *id) : app.service().can_revert(*pool, *source); !status)
    return call.answer->refuse(status.error());
  Prepared prepared = app.service().prepare(*pool, OutcomeReverted{.feedback = id, .source = source ? std::string(*source) : ""});
  prepared.note = call.caller.source;
  const Status taken = app.service().commit(std::move(prepared), [answer = call.answer](const Result<Applied>& applied) {
    if (!applied) return answer->refuse(applied.error());
    if (applied->result.error) return answer->refuse(*applied->result.error);
    JsonWriter out;
    out.open('{').key("status").text(name_of(applied->result.status)).key("reverted").open('[');
    for (const Uuid reverted : applied->result.reverted) out.text(reverted.text());
    answer->json(out.close(']').close('}').take());
  });
  if (!taken) call.answer->refuse(overloaded(taken.error()));
}

}  // namespace margin::server
