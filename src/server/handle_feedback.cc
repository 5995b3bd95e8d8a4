// POST /v1/feedback, /v1/feedback/batch, /v1/feedback/revert: what became of decisions. Whatever is accepted is in the log; whatever cannot
// be applied gets an error of its own.
#include <functional>
#include <memory>

#include "base/text.h"
#include "margin/uuid.h"
#include "server/app.h"
#include "server/feedback_request.h"
#include "server/idempotency.h"
#include "server/render.h"
#include "server/tracing.h"

namespace margin::server {
namespace {

using service::Applied;
using service::Prepared;
using service::ServedPool;

// The JSON of a receipt, or a refusal.
using Answered = std::function<void(http::Response)>;

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

constexpr std::string_view kSendInstead = "; send outcome (of the selected answer) or outcomes (by model) instead";

// The pool speaks of its events, the request of its own fields.
Error as_asked(Error error) {
  const auto rename = [&](std::string_view ours, std::string_view theirs) {
    if (error.message.starts_with(ours)) error.message.replace(0, error.message.find(':'), theirs);
  };
  rename("grades", "outcomes");
  rename("selected:", "outcome");
  if (!error.message.starts_with("gold:")) return error;
  rename("gold:", "correct_answer");
  error.message += kSendInstead;
  return error;
}

// A right answer that waits for its decision is compared with it later, from the log: where that keeps no texts of answers, it must not
// have this one either.
std::optional<Error> gold_fault(const App& app, const FeedbackRequest& given) {
  const config::KeptAnswers kept = app.config().store.answers;
  if (!given.outcome.gold || kept == config::KeptAnswers::kText) return std::nullopt;
  const std::string_view word = kept == config::KeptAnswers::kHash ? "hash" : "none";
  return Error{ErrorCode::kUnsupported, "correct_answer: the decision is not known here, and with store.answers = \"" + std::string(word) +
                                            "\" no text may wait for it" + std::string(kSendInstead) +
                                            ", or send it again when the decision is made"};
}

void commit_outcome(App& app, ServedPool& pool, FeedbackRequest given, std::optional<RequestMark> mark, const Answered& answered) {
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

ServedPool* pool_for(App& app, const Caller& caller, const FeedbackRequest& given, const Answered& answered) {
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
    if (!made) answered(refusal(overloaded(made.error())));
    return made ? *made : nullptr;
  }
  if (pool == nullptr) answered(refusal(404, "not_found", "pool: no pool named " + internal::printable(name), "pool"));
  return pool;
}

void take(App& app, const Call& call, const Json& body, std::optional<RequestMark> mark, const Answered& answered) {
  const Caller& caller = call.caller;
  FeedbackRequest given;
  given.traced = caller_context(call.request);
  if (auto fault = read_feedback(body, caller, given)) return answered(refusal(*fault));
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
  const auto compared = pool->pool().compare(given.outcome);
  if (!compared) return answered(refusal(as_asked(compared.error())));
  if (compared->known) {
    if (!compared->contradicted.empty() && !given.replace) {
      return answered(refusal(
          409, "conflict",
          "outcome: feedback " + compared->contradicted.front().feedback.text() + " said otherwise; send \"replace\": true to take it back",
          "outcome"));
    }
    if (compared->contradicted.empty() && !compared->fresh) return answered(receipt(compared->same.front().feedback, "duplicate", {}));
    auto grades = pool->pool().resolve(given.outcome);
    if (!grades) return answered(refusal(as_asked(grades.error())));
    given.outcome.grades = std::move(*grades);
    given.outcome.gold.reset();
    given.outcome.selected.reset();
    std::vector<Uuid> contradicted;
    for (const Comparison::Said& said : compared->contradicted) contradicted.push_back(said.feedback);
    if (!take_back(app, *pool, contradicted, caller, answered)) return;
  } else if (const auto fault = gold_fault(app, given)) {
    return answered(refusal(*fault));
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
  if (feedback && !(id = parse_feedback_id(*feedback))) in.fail("feedback_id", "expected a UUID");
  if (feedback.has_value() == source.has_value()) in.fail("feedback_id", "expected either feedback_id or source");
  if (auto fault = in.finish()) return call.answer->refuse(*fault);
  ServedPool* pool = find_pool(app, call, pool_name);
  if (pool == nullptr) return;
  if (id) {
    if (Status status = app.service().can_revert(*pool, *id); !status) return call.answer->refuse(status.error());
  }
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
