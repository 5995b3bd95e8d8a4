#include "server/feedback_desk.h"

#include <algorithm>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "server/render.h"
#include "server/sources.h"
#include "server/tracing.h"

namespace margin::server {
namespace {

using service::Applied;
using service::Prepared;
using service::ServedPool;
using service::Turns;

void render_names(JsonWriter& out, std::string_view key, const std::vector<std::string>& names) {
  out.key(key).open('[');
  for (const std::string& name : names) out.text(name);
  out.close(']');
}

http::Response receipt(Uuid id, const ApplyResult& result) {
  JsonWriter out;
  out.open('{').key("feedback_id").text(id.text()).key("status").text(name_of(result.status));
  render_names(out, "updated", result.learned);
  if (!result.unlearned.empty()) render_names(out, "not_learned", result.unlearned);
  if (!result.capped.empty()) render_names(out, "capped", result.capped);
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

// An outcome by model grades all of its responses.
std::optional<Error> ambiguity_fault(const Pool& pool, const OutcomeObserved& outcome) {
  const auto model = pool.ambiguous_model(outcome);
  if (!model) return std::nullopt;
  return Error{ErrorCode::kUnsupported, "outcomes: model " + internal::printable(*model) +
                                            " gave different answers in several channels, of which one outcome cannot be true; send " +
                                            "correct_answer, or outcome (of the selected answer), instead"};
}

http::Response contradicts(Uuid feedback) {
  return refusal(409, "conflict", "outcome: feedback " + feedback.text() + " said otherwise; send \"replace\": true to take it back",
                 "outcome");
}

// What others said is theirs to take back, or an admin's; and who teaches nothing must not unteach.
std::optional<http::Response> replacement_fault(const App& app, const Caller& caller, const FeedbackRequest& given,
                                                const std::vector<Comparison::Said>& replaced) {
  if (given.outcome.weight == 0.0) {
    return refusal(403, "no_weight", "replace: this key's feedback has weight 0, so it cannot take the place of feedback that counts",
                   "replace");
  }
  for (const Comparison::Said& said : replaced) {
    if (is_own(app.keys(), caller, said.source) || caller.scopes.has(access::Scope::kAdmin)) continue;
    return refusal(403, "missing_scope",
                   "replace: feedback " + said.feedback.text() + " is of another source; taking it back asks for the scope admin",
                   "replace");
  }
  return std::nullopt;
}

// Feedback without weight, or beyond its source's share, grades nobody, and is kept beside what does: of one key so many different
// statements on a decision, of all together half of what a decision remembers, so that it never keeps out what counts.
constexpr std::size_t kOpinionsMax = 4;
constexpr std::size_t kUngradedMax = 512;
// Whatever it says: what was taken back keeps its place, and what waits for a decision may turn out to grade nobody.
constexpr std::size_t kIdleMax = 256;

bool same_grades(std::vector<Grade> a, std::vector<Grade> b) {
  const auto by_model = [](const Grade& x, const Grade& y) { return std::tie(x.model, x.channel) < std::tie(y.model, y.channel); };
  std::sort(a.begin(), a.end(), by_model);
  std::sort(b.begin(), b.end(), by_model);
  return a == b;
}

// Clients may bring ids of their own, so two pools may know one: the pool that is named comes first, and one's own before another's.
ServedPool* find_knowing(App& app, const Caller& caller, const FeedbackRequest& given) {
  const Uuid decision = given.outcome.decision;
  ServedPool* named = given.pool.empty() ? nullptr : app.service().find(caller.stored(given.pool));
  return named != nullptr && named->pool().knows(decision) ? named : app.service().find_decision(decision, caller.tenant);
}

// One feedback, while it has its turn.
struct Taking {
  App& app;
  Caller caller;
  FeedbackRequest given;
  std::optional<GivenMark> mark;
  Answered answered;
  Turns::Turn turn;

  void take();

 private:
  // nullptr: answered.
  [[nodiscard]] ServedPool* find_pool();
  [[nodiscard]] bool repeated();
  void refuse(ServedPool& pool, http::Response response) const {
    pool.count_feedback(ApplyStatus::kRefused);
    answered(std::move(response));
  }
  // The same was said before: nothing is written, and the request is remembered for as long as this server runs.
  void tell_duplicate(ServedPool& pool, Uuid first);
  // Everybody who said otherwise, also those who only repeated it: they would count when what they repeat is taken back.
  [[nodiscard]] std::vector<Comparison::Said> contradicted(ServedPool& pool, const Comparison& compared) const;
  // Whether feedback that would grade nobody was answered: it says nothing new, or there is too much of it.
  [[nodiscard]] bool weighed(ServedPool& pool, const Comparison& compared);
  void write(ServedPool& pool, const std::vector<Comparison::Said>& replaced);
  // Its decision came while this was on its way, with what it contradicts, and it is in the log for nothing: it is taken back, and said
  // again where it may replace that.
  static void say_again(const std::shared_ptr<Taking>& taking, ServedPool& pool, Uuid written, const Error& conflict);
};

ServedPool* Taking::find_pool() {
  const std::string name = given.pool.empty() ? "default" : given.pool;
  const Uuid decision = given.outcome.decision;
  ServedPool* pool = app.service().find(caller.stored(name));
  if (ServedPool* knows = find_knowing(app, caller, given)) {
    if (knows == pool || knows->tenant() == caller.tenant) return knows;
    // A tenant's, for a key of none: one of no tenant may have had the id, and be too old to be taught; then it is that one's.
    std::vector<ServedPool*> own = app.service().pools_seen_by(caller.tenant);
    std::erase_if(own, [&](const ServedPool* each) { return each->tenant() != caller.tenant; });
    const auto forgotten = app.service().find_forgotten(decision, own);
    if (!forgotten) answered(refusal(forgotten.error()));
    if (!forgotten || *forgotten == nullptr) return forgotten ? knows : nullptr;
  } else if (app.service().find_decision(decision, "") != nullptr) {
    answered(refusal(404, "not_found", "decision_id: no such decision", "decision_id"));
    return nullptr;
  }
  // Whatever waits for one decision of a tenant waits together, so that it is compared.
  if (ServedPool* waits = app.service().find_awaiting(decision, pool == nullptr ? caller.tenant : pool->tenant())) return waits;
  if (pool == nullptr ? name == "default" : pool->next_offset() == 0) {
    auto made = app.service().find_or_make(caller.stored(name));
    if (!made) answered(refusal(made.error()));
    return made ? *made : nullptr;
  }
  if (pool == nullptr) answered(refusal(404, "not_found", "pool: no pool named " + internal::printable(name), "pool"));
  return pool;
}

bool Taking::repeated() {
  if (!mark) return false;
  switch (const Repeated known = seen_before(app, caller, *mark); known.kind) {
    case Repeated::kNew: return false;
    case Repeated::kSame: tell_duplicate(*known.pool, known.event); break;
    case Repeated::kOtherBody: refuse(*known.pool, idempotency_conflict()); break;
    case Repeated::kUnderWay: answered(idempotency_under_way()); break;
  }
  return true;
}

void Taking::tell_duplicate(ServedPool& pool, Uuid first) {
  if (mark) pool.requests().settle(mark->mark, first);
  pool.count_feedback(ApplyStatus::kDuplicate);
  answered(receipt(first, {.status = ApplyStatus::kDuplicate}));
}

void Taking::take() {
  if (repeated()) return;
  ServedPool* pool = find_pool();
  if (pool == nullptr) return;
  const auto compared = pool->pool().compare(given.outcome);
  if (!compared) return refuse(*pool, refusal(as_asked(compared.error())));
  if (!compared->known) {
    const auto forgotten = app.service().find_forgotten(given.outcome.decision, app.service().pools_seen_by(caller.tenant));
    if (!forgotten) return answered(refusal(forgotten.error()));
    // Nothing is written: in the log it would wait for a decision that has been.
    if (ServedPool* made_by = *forgotten) {
      made_by->count_feedback(ApplyStatus::kExpired);
      return answered(receipt(app.service().new_id(), {.status = ApplyStatus::kExpired}));
    }
    if (const auto fault = gold_fault(app, given)) return refuse(*pool, refusal(*fault));
  }
  if (const auto fault = ambiguity_fault(pool->pool(), given.outcome)) return refuse(*pool, refusal(*fault));
  std::vector<Comparison::Said> replaced;
  if (!compared->contradicted.empty()) {
    if (!given.replace) {
      pool->count_feedback(ApplyStatus::kConflict);
      return answered(contradicts(compared->contradicted.front().feedback));
    }
    replaced = contradicted(*pool, *compared);
    if (auto fault = replacement_fault(app, caller, given, replaced)) return refuse(*pool, std::move(*fault));
  } else if (!compared->fresh) {
    return tell_duplicate(*pool, compared->same.front().feedback);
  }
  if (compared->known) {
    auto grades = pool->pool().resolve(given.outcome);
    if (!grades) return refuse(*pool, refusal(as_asked(grades.error())));
    given.outcome.grades = std::move(*grades);
    given.outcome.gold.reset();
    given.outcome.selected.reset();
  }
  const bool grades_nobody = given.outcome.weight == 0.0 || (compared->capped && compared->contradicted.empty());
  if (grades_nobody && weighed(*pool, *compared)) return;
  if (compared->idle >= kIdleMax) {
    return refuse(*pool, refusal(422, "limit_exceeded",
                                 "outcome: a decision keeps " + std::to_string(kIdleMax) +
                                     " statements of one key that were taken back, grade nobody or wait for it, and has as many already",
                                 "outcome"));
  }
  write(*pool, replaced);
}

std::vector<Comparison::Said> Taking::contradicted(ServedPool& pool, const Comparison& compared) const {
  std::vector<Comparison::Said> all = compared.contradicted;
  if (!compared.known) return all;
  for (const Uuid said : pool.pool().said_of(given.outcome.decision)) {
    const auto same = [&](const Comparison::Said& known) { return known.feedback == said; };
    if (std::any_of(all.begin(), all.end(), same)) continue;
    // The state knows what grades a response; what else was said is in the log.
    const auto record = app.service().look_up(pool, said);
    const auto* outcome = record && *record ? std::get_if<OutcomeObserved>(&(*record)->event.body) : nullptr;
    if (outcome == nullptr || outcome->weight == 0.0 || !pool.pool().contradict(*outcome, given.outcome)) continue;
    all.push_back({said, outcome->source});
  }
  return all;
}

bool Taking::weighed(ServedPool& pool, const Comparison& compared) {
  // The state knows who spoke; what was said is in the log. An older one may have more of it than is kept now. What waits was compared.
  const std::size_t looked_at = compared.known ? std::min(compared.ungraded.size(), kOpinionsMax) : 0;
  for (const Uuid said : std::span(compared.ungraded).last(looked_at)) {
    auto record = app.service().look_up(pool, said);
    const auto* outcome = record && *record ? std::get_if<OutcomeObserved>(&(*record)->event.body) : nullptr;
    if (outcome == nullptr || !same_grades(outcome->grades, given.outcome.grades)) continue;
    tell_duplicate(pool, said);
    return true;
  }
  if (compared.ungraded.size() < kOpinionsMax && compared.ungraded_count < kUngradedMax) return false;
  refuse(pool,
         refusal(422, "limit_exceeded",
                 "outcome: feedback that grades nobody, without weight or beyond its key's share, is kept " + std::to_string(kOpinionsMax) +
                     " times of one key and " + std::to_string(kUngradedMax) + " times in all for a decision, and there is as much already",
                 "outcome"));
  return true;
}

http::Response contradicts(const Error& conflict) {
  return refusal(409, "conflict", "outcome: " + conflict.message + "; send \"replace\": true to take it back", "outcome");
}

void Taking::say_again(const std::shared_ptr<Taking>& taking, ServedPool& pool, Uuid written, const Error& conflict) {
  Prepared back = taking->app.service().prepare(pool, OutcomeReverted{.feedback = written, .source = ""});
  back.note = taking->caller.source;
  const Status taken = taking->app.service().commit(std::move(back), [taking, conflict](const Result<Applied>& applied) {
    if (!applied) return taking->answered(refusal(applied.error()));
    if (!taking->given.replace) return taking->answered(contradicts(conflict));
    taking->take();
    taking->turn.reset();
  });
  if (!taken) taking->answered(refusal(overloaded(taken.error())));
}

// What is replaced is taken back first; the new one then counts in the fold that follows. All of it is written, or none.
void Taking::write(ServedPool& pool, const std::vector<Comparison::Said>& replaced) {
  std::vector<Prepared> events;
  for (const Comparison::Said& said : replaced) {
    auto permit = app.service().can_revert(pool, said.feedback);
    if (!permit) return answered(refusal(permit.error()));
    events.push_back(app.service().prepare(pool, OutcomeReverted{.feedback = said.feedback, .source = ""}));
    events.back().note = caller.source;
    events.back().permit = std::move(*permit);
  }
  // For the trace, once it is recorded.
  const auto told = app.tracer()->enabled() ? std::make_shared<const OutcomeObserved>(given.outcome) : nullptr;
  // For a decision that comes meanwhile.
  const auto again = pool.pool().knows(given.outcome.decision)
                         ? nullptr
                         : std::make_shared<Taking>(Taking{app, caller, given, std::nullopt, answered, turn});
  events.push_back(app.service().prepare(pool, std::move(given.outcome)));
  if (mark) events.back().mark = mark->mark;
  events.back().note = given.observed_at.empty() ? "" : "observed_at=" + given.observed_at;
  const Uuid id = events.back().event.id;
  const auto replaces =
      replaced.empty() ? nullptr : std::make_shared<const OutcomeObserved>(std::get<OutcomeObserved>(events.back().event.body));
  const Status taken =
      app.service().commit_together(std::move(events), [&app = app, &pool, id, answer = answered, replaces, again, told,
                                                        traced = given.traced, held = turn](const Result<Applied>& applied) {
        if (!applied) return answer(refusal(applied.error()));
        const ApplyResult& result = applied->result;
        // What was taken back had kept somebody out who said the same before.
        if (result.status == ApplyStatus::kDuplicate && replaces) {
          const auto compared = pool.pool().compare(*replaces);
          return answer(receipt(compared && !compared->same.empty() ? compared->same.front().feedback : id, result));
        }
        if (result.status == ApplyStatus::kConflict) {
          ServedPool* const knows = again ? find_knowing(app, again->caller, again->given) : nullptr;
          // Else the log has what this server did not know of.
          return knows != nullptr ? say_again(again, *knows, id, *result.error) : answer(contradicts(*result.error));
        }
        if (result.error) return answer(refusal(as_asked(*result.error)));
        if (told) trace_feedback(app, traced, *told);
        answer(receipt(id, result));
      });
  if (!taken) answered(refusal(overloaded(taken.error())));
}

}  // namespace

void take_feedback(App& app, const Caller& caller, FeedbackRequest given, std::optional<GivenMark> mark, Answered answered) {
  Turns::Key key{.tenant = caller.tenant, .decision = given.outcome.decision};
  // Who is of no tenant may speak of everybody's decisions, also of those to come.
  if (key.tenant.empty()) {
    const ServedPool* pool = find_knowing(app, caller, given);
    if (pool == nullptr && !given.pool.empty()) pool = app.service().find(given.pool);
    if (pool != nullptr) key.tenant = pool->tenant();
  }
  auto taking = std::make_shared<Taking>(Taking{app, caller, std::move(given), mark, std::move(answered), nullptr});
  const bool waits =
      app.service().turns().take(key, static_cast<std::size_t>(app.config().limits.queue), [taking](const Turns::Turn& turn) {
        taking->turn = turn;
        taking->take();
        taking->turn.reset();
      });
  if (!waits) {
    taking->answered(refusal(overloaded({ErrorCode::kLimit, "too much feedback of the same decision waits to be written"})));
  }
}

}  // namespace margin::server
