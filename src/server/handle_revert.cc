// POST /v1/feedback/revert: what was said is taken back, in whichever of the caller's pools it was said.
#include <memory>

#include "server/app.h"
#include "server/given_id.h"
#include "server/idempotency.h"
#include "server/render.h"
#include "server/sources.h"

namespace margin::server {
namespace {

using service::Applied;
using service::Prepared;
using service::ServedPool;
using service::Turns;

struct RevertRequest {
  std::optional<Uuid> feedback;
  std::string source;  // when no feedback is named
  std::optional<std::string> pool;
};

std::optional<Fault> read_revert(const Json& body, RevertRequest& asked) {
  ObjectReader in(body, "");
  const auto feedback = in.text("feedback_id");
  const auto source = in.text("source");
  if (const auto pool = in.text("pool")) asked.pool = *pool;
  if (feedback && !(asked.feedback = parse_given_id(*feedback))) in.fail("feedback_id", "expected a UUID");
  if (source) asked.source = *source;
  if (source && source->empty()) in.fail("source", "expected the public part of a key");
  if (feedback.has_value() == source.has_value()) in.fail("feedback_id", "expected either feedback_id or source");
  return in.finish();
}

// A pool, and what is to be taken back there.
struct Part {
  ServedPool* pool = nullptr;
  OutcomeReverted revert;
  std::optional<Uuid> decision{};
  service::RevertPermit permit{};
};

// The answer, when the last part has been applied.
struct Reverting {
  SharedAnswer answer;
  std::size_t open = 0;
  bool changed = false;
  std::vector<Uuid> reverted{};
  std::optional<Error> error{};

  void settle(const Result<Applied>& applied) {
    if (!applied || applied->result.error) {
      error = applied ? *applied->result.error : applied.error();
    } else {
      changed |= applied->result.status != ApplyStatus::kDuplicate;
      reverted.insert(reverted.end(), applied->result.reverted.begin(), applied->result.reverted.end());
    }
    if (--open > 0) return;
    if (error) return answer->refuse(*error);
    JsonWriter out;
    out.open('{').key("status").text(name_of(changed ? ApplyStatus::kApplied : ApplyStatus::kDuplicate)).key("reverted").open('[');
    for (const Uuid each : reverted) out.text(each.text());
    answer->json(out.close(']').close('}').take());
  }
};

Result<std::vector<Part>> parts_by_id(App& app, const std::vector<ServedPool*>& pools, Uuid feedback) {
  std::vector<Part> parts;
  std::optional<Error> none;
  for (ServedPool* pool : pools) {
    auto permit = app.service().can_revert(*pool, feedback);
    if (!permit) {
      // That it is too old tells more than that another pool does not know it.
      if (!none || none->code == ErrorCode::kNotFound) none = permit.error();
      continue;
    }
    Part part{.pool = pool, .revert = OutcomeReverted{.feedback = feedback, .source = ""}, .permit = std::move(*permit)};
    auto record = app.service().look_up(*pool, feedback);
    if (record && *record) part.decision = std::get<OutcomeObserved>((*record)->event.body).decision;
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return none ? *none : Error{ErrorCode::kNotFound, "feedback_id: no pool has such feedback"};
  return parts;
}

Result<std::vector<Part>> parts_by_source(App& app, const Caller& caller, const std::vector<ServedPool*>& pools, std::string_view text) {
  auto sources = sources_named(app.keys(), caller, text);
  if (!sources) return sources.error();
  std::vector<Part> parts;
  for (ServedPool* pool : pools) {
    for (const std::string& source : *sources) {
      if (pool->pool().heard(source)) parts.push_back({pool, OutcomeReverted{.feedback = std::nullopt, .source = source}});
    }
  }
  if (parts.empty()) return {ErrorCode::kNotFound, "source: no feedback of it that is still remembered"};
  return parts;
}

// Parts of which it is not yet known whether all of them can be done.
struct Intended {
  std::vector<Part> parts;
  SharedAnswer answer;
  std::string by;
  std::size_t open = parts.size();
  std::optional<Error> error{};
};

void carry_out(App& app, const Intended& intended) {
  const auto reverting = std::make_shared<Reverting>(Reverting{intended.answer, intended.parts.size()});
  for (const Part& part : intended.parts) {
    const auto write = [&app, part, reverting, by = intended.by](const Turns::Turn& turn) {
      Prepared prepared = app.service().prepare(*part.pool, part.revert);
      prepared.note = by;
      prepared.permit = part.permit;
      const Status taken =
          app.service().commit(std::move(prepared), [reverting, turn](const Result<Applied>& applied) { reverting->settle(applied); });
      if (!taken) reverting->settle(overloaded(taken.error()));
    };
    // Of one feedback: after what is being said of its decision. All of a source: whatever is written by then.
    if (!part.decision) {
      write(nullptr);
      continue;
    }
    const Turns::Key key{std::string(part.pool->tenant()), *part.decision};
    if (!app.service().turns().take(key, static_cast<std::size_t>(app.config().limits.queue), write)) {
      reverting->settle(Error{ErrorCode::kUnavailable, "too much feedback of the same decision waits to be written"});
    }
  }
}

// All or nothing: none is written before it is known that each can be.
void carry_out_if_possible(App& app, const std::shared_ptr<Intended>& intended) {
  for (Part& part : intended->parts) {
    app.service().can_revert(*part.pool, part.revert.source, [&app, intended, &part](Result<service::RevertPermit> permit) {
      if (permit) part.permit = std::move(*permit);
      if (!permit) intended->error = permit.error();
      if (--intended->open > 0) return;
      intended->error ? intended->answer->refuse(*intended->error) : carry_out(app, *intended);
    });
  }
}

}  // namespace

void revert_feedback(App& app, const Call& call) {
  const Json* body = body_of(app, call);
  if (body == nullptr) return;
  RevertRequest asked;
  if (auto fault = read_revert(*body, asked)) return call.answer->refuse(*fault);
  std::vector<ServedPool*> pools;
  if (asked.pool) {
    ServedPool* pool = find_pool(app, call, *asked.pool);
    if (pool == nullptr) return;
    pools.push_back(pool);
  } else {
    pools = app.service().pools_seen_by(call.caller.tenant);
  }
  auto parts = asked.feedback ? parts_by_id(app, pools, *asked.feedback) : parts_by_source(app, call.caller, pools, asked.source);
  if (!parts) return call.answer->refuse(parts.error());
  const auto intended = std::make_shared<Intended>(Intended{std::move(*parts), call.answer, call.caller.source});
  asked.feedback ? carry_out(app, *intended) : carry_out_if_possible(app, intended);
}

}  // namespace margin::server
