// The public face of the pool; the work is in PoolState.
#include "margin/pool.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/check.h"
#include "pool/limits.h"
#include "pool/state.h"

namespace margin {

struct Pool::State : internal::PoolState {
  State() = default;
  explicit State(internal::PoolState&& state) : PoolState(std::move(state)) {}
};

Pool::Pool() : state_(std::make_unique<State>()) {}
Pool::Pool(std::unique_ptr<State> state) : state_(std::move(state)) {}
Pool::~Pool() = default;
Pool::Pool(Pool&&) noexcept = default;
Pool& Pool::operator=(Pool&&) noexcept = default;

Result<DecisionMade> Pool::decide(const Question& question) const { return state_->decide(question); }
Status Pool::decide(Draft& draft) const { return state_->decide(draft); }

bool Pool::settled(const DecisionMade& decision, std::size_t more) const { return state_->settled(decision, more); }

Result<std::vector<Grade>> Pool::resolve(const OutcomeObserved& outcome) const {
  if (Status status = internal::check_outcome(outcome, state_->config); !status) return status.error();
  const internal::DecisionRecord* decision = state_->decisions.find(outcome.decision);
  if (decision == nullptr) return {ErrorCode::kNotFound, "decision: " + outcome.decision.text() + " is unknown or has expired"};
  if (Status status = state_->can_grade(outcome.gold.has_value(), *decision); !status) return status.error();
  const auto outcomes = internal::outcomes_of(internal::verdict_of(outcome, decision->kind), *decision, state_->members, state_->cells);
  if (!outcomes) return outcomes.error();
  if (!outcome.grades.empty()) return outcome.grades;

  return state_->grades_of(*decision, *outcomes);
}

Result<Comparison> Pool::compare(const OutcomeObserved& outcome) const { return state_->compare(outcome); }

std::vector<Pool::TakenOver> Pool::take_over(Uuid decision, const Pool& from) const {
  std::vector<TakenOver> taken;
  const internal::DecisionRecord* record = state_->decisions.find(decision);
  if (record == nullptr) return taken;
  for (const auto* entry : from.state_->early.waiting(decision)) {
    if (!entry->reverted) taken.push_back({entry->id, state_->resolve_waiting(entry->verdict, *record)});
  }
  return taken;
}

bool Pool::heard(std::string_view source) const { return state_->heard(source); }
bool Pool::awaits(Uuid decision) const { return state_->early.waiting_for(decision) > 0; }
std::vector<Uuid> Pool::awaited_decisions() const { return state_->early.awaited(); }

std::vector<Uuid> Pool::waiting_golds(Uuid decision) const {
  std::vector<Uuid> golds;
  for (const auto* entry : state_->early.waiting(decision)) {
    if (!entry->reverted && entry->verdict.gold) golds.push_back(entry->id);
  }
  return golds;
}

std::vector<Uuid> Pool::waiting_ambiguous(Uuid id, const DecisionMade& decision) const { return state_->waiting_ambiguous(id, decision); }

std::optional<std::string> Pool::ambiguous_model(const OutcomeObserved& outcome) const {
  const internal::DecisionRecord* decision = state_->decisions.find(outcome.decision);
  if (decision == nullptr) return std::nullopt;
  for (const Grade& grade : outcome.grades) {
    if (state_->is_ambiguous(grade, *decision)) return grade.model;
  }
  return std::nullopt;
}

ApplyResult Pool::apply(const Event& event) { return state_->apply(event); }

const PoolConfigured& Pool::config() const { return state_->config; }
std::int64_t Pool::time_ms() const { return state_->time_ms; }
bool Pool::frozen() const { return state_->frozen; }
bool Pool::needs_fold() const { return state_->needs_fold(); }
std::vector<std::string> Pool::present_models() const { return state_->members.present_names(); }
std::size_t Pool::known_decisions() const { return state_->decisions.size(); }
std::size_t Pool::pending_decisions() const { return state_->decisions.pending(); }
std::size_t Pool::early_outcomes() const { return state_->early.outcomes(); }
std::size_t Pool::waiting_outcomes() const { return state_->early.waiting_outcomes(); }
std::vector<FactorRow> Pool::factors() const { return state_->factors(); }
std::vector<Alarm> Pool::alarms() const { return state_->alarms(); }
bool Pool::knows(Uuid decision) const { return state_->decisions.find(decision) != nullptr; }
std::optional<DecisionView> Pool::decision(Uuid id) const { return state_->view(id); }

std::vector<Uuid> Pool::said_of(Uuid decision) const {
  std::vector<Uuid> said;
  const internal::DecisionRecord* record = state_->decisions.find(decision);
  if (record == nullptr) return said;
  for (std::size_t i = 0; i < record->later->feedbacks.size(); ++i) {
    const internal::FeedbackMark& mark = record->later->feedbacks[i];
    if (!mark.reverted || record->holds(i)) said.push_back(mark.id);
  }
  return said;
}

std::vector<Pool::Grading> Pool::latest_gradings(std::size_t count) const {
  std::vector<Grading> all;
  // Of one decision they are in their order, and decisions are.
  const auto keep_latest = [&] {
    std::stable_sort(all.begin(), all.end(), [](const Grading& a, const Grading& b) { return a.time_ms < b.time_ms; });
    if (all.size() > count) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(count));
  };
  std::vector<std::uint32_t> places;
  for (const internal::DecisionRecord& record : state_->decisions) {
    const auto& feedbacks = record.later->feedbacks;
    if (feedbacks.empty()) continue;
    places.clear();
    for (const internal::DecisionRecord::Response& response : record.responses) {
      if (response.graded()) places.push_back(record.outcome_of(response).feedback);
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (const std::uint32_t place : places) all.push_back({record.id, feedbacks[place].id, feedbacks[place].time_ms});
    if (all.size() >= 2 * count + internal::kFeedbacksMax) keep_latest();
  }
  keep_latest();
  return all;
}

bool Pool::contradict(const OutcomeObserved& one, const OutcomeObserved& other) const {
  const internal::DecisionRecord* decision = state_->decisions.find(one.decision);
  if (decision == nullptr || one.decision != other.decision) return false;
  const auto outcomes = [&](const OutcomeObserved& said) {
    return internal::outcomes_of(internal::verdict_of(said, decision->kind), *decision, state_->members, state_->cells);
  };
  const auto a = outcomes(one);
  const auto b = outcomes(other);
  if (!a || !b) return false;
  for (std::size_t i = 0; i < a->size(); ++i) {
    if ((*a)[i] == (*a)[i] && (*b)[i] == (*b)[i] && (*a)[i] != (*b)[i]) return true;
  }
  return false;
}

std::vector<Uuid> Pool::latest_decisions(std::size_t count) const { return state_->latest(count); }
std::optional<Uuid> Pool::oldest_decision() const {
  return known_decisions() > 0 ? std::optional(state_->decisions.begin()->id) : std::nullopt;
}

Result<double> Pool::calibrate(std::string_view model, std::string_view channel, std::string_view segment, double confidence) const {
  if (!internal::is_probability(confidence)) return internal::out_of_range("confidence", confidence, "a number in [0, 1]");
  const auto id = state_->members.find_joined(model);
  const auto cell = state_->cells.find(channel, segment);
  if (!id || !cell || !state_->cells[*cell].calibrator->known(*id)) {
    return {ErrorCode::kNotFound, "model: never answered in this channel and segment"};
  }
  return state_->calibrate({*id, *cell, true}, confidence);
}

std::string Pool::snapshot() const {
  internal::Encoder out;
  state_->save(out);
  return out.take();
}

void Pool::begin_snapshot() { state_->begin_snapshot(); }
std::optional<std::vector<std::string>> Pool::continue_snapshot(std::size_t decisions) { return state_->continue_snapshot(decisions); }
bool Pool::snapshot_under_way() const { return state_->decisions.copying(); }

Result<Pool> Pool::restore(std::string_view bytes) {
  auto state = internal::PoolState::load(bytes);
  if (!state) return state.error();
  return Pool(std::make_unique<State>(std::move(**state)));
}

Result<Pool> fold(const PoolSource& start, const EventSource& events, const FoldWatcher& watch) {
  // First as they come, to learn what the reverts take back. That does not depend on what other reverts take back: every feedback leaves
  // its mark with the decision, reverted or not.
  Result<Pool> pool = start();
  if (!pool) return pool;
  std::map<Uuid, std::size_t> reverted_at;
  bool again = false;
  std::size_t index = 0;
  Status status = events([&](const Event& event) {
    if (watch) watch(index, *pool);
    const ApplyResult result = pool->apply(event);
    again |= result.status == ApplyStatus::kRefold;
    for (const Uuid feedback : result.reverted) reverted_at[feedback] = index;
    ++index;
  });
  if (!status) return status.error();
  if (!again) return pool;

  pool = start();
  if (!pool) return pool;
  index = 0;
  status = events([&](const Event& event) {
    if (watch) watch(index, *pool);
    const auto revert = reverted_at.find(event.id);
    pool->state_->apply(event, revert != reverted_at.end() && index < revert->second);
    ++index;
  });
  if (!status) return status.error();
  return pool;
}

Pool fold(Pool start, std::span<const Event> events) {
  const bool any_revert =
      std::any_of(events.begin(), events.end(), [](const Event& event) { return std::holds_alternative<OutcomeReverted>(event.body); });
  const std::string before = any_revert ? start.snapshot() : std::string();
  bool fresh = true;
  Result<Pool> folded = fold([&] { return std::exchange(fresh, false) ? Result<Pool>(std::move(start)) : Pool::restore(before); },
                             [&](const std::function<void(const Event&)>& visit) {
                               for (const Event& event : events) visit(event);
                               return Status();
                             });
  MARGIN_CHECK(folded.ok(), "a pool restores from its own snapshot");
  return std::move(*folded);
}

std::string_view name_of(ApplyStatus status) {
  switch (status) {
    case ApplyStatus::kApplied: return "applied";
    case ApplyStatus::kDuplicate: return "duplicate";
    case ApplyStatus::kPendingDecision: return "pending_decision";
    case ApplyStatus::kExpired: return "expired";
    case ApplyStatus::kConflict: return "conflict";
    case ApplyStatus::kReverted: return "reverted";
    case ApplyStatus::kRefold: return "folding";
    case ApplyStatus::kRefused: return "refused";
  }
  return "";
}

}  // namespace margin
