// What happens to every event: recognised if seen, time goes on, what is old is forgotten, then the event's own effect.
#include <algorithm>
#include <utility>
#include <variant>

#include "base/check.h"
#include "pool/limits.h"
#include "pool/state.h"

namespace margin::internal {

PoolState::PoolState() {
  const ApplyResult configured = on(PoolConfigured{}, {});
  MARGIN_CHECK(configured.status == ApplyStatus::kApplied, "the default configuration is valid");
}

ApplyResult PoolState::apply(const Event& event, bool taken_back) {
  if (seen(event)) return {.status = ApplyStatus::kDuplicate};
  if (event.time_ms < 0 || event.time_ms >= kTimeMsEnd) {
    return refused(ErrorCode::kInvalidArgument,
                   "time_ms: got " + std::to_string(event.time_ms) + ", expected milliseconds since 1970 below 2^48");
  }
  return apply_new(event, taken_back);
}

ApplyResult PoolState::apply_new(const Event& event, bool taken_back) {
  remembered.insert(event.id, event.time_ms);
  const std::size_t lapsed = advance(std::max(time_ms, event.time_ms));
  ApplyResult result = std::visit([&](const auto& body) { return on(body, {event.id, taken_back}); }, event.body);
  result.lapsed += lapsed;
  return result;
}

bool PoolState::seen(const Event& event) const {
  if (remembered.contains(event.id) || decisions.find(event.id) != nullptr) return true;
  const auto* outcome = std::get_if<OutcomeObserved>(&event.body);
  if (outcome == nullptr) return false;
  const DecisionRecord* decision = decisions.find(outcome->decision);
  return decision != nullptr ? decision->has_feedback(event.id) : early.contains(outcome->decision, event.id);
}

std::size_t PoolState::advance(std::int64_t to_ms) {
  time_ms = to_ms;
  const std::int64_t horizon = time_ms - config.pending_ms_max;
  const auto last_look = [&](DecisionRecord& decision) { watch.close(decision, time_ms); };
  decisions.forget_before(horizon, last_look);
  decisions.forget_beyond(config.decisions_max, last_look);
  awaited_reverts.forget_before(horizon);
  remembered.forget_beyond(config.remembered_events_max);
  return early.forget_before(horizon);
}

bool PoolState::forgotten(Uuid id) const {
  const bool carries_time = ((id.high >> 12) & 0xf) == 7;
  return carries_time && id.time_ms() < time_ms - config.pending_ms_max;
}

ApplyResult PoolState::on(const PoolConfigured& event, Context) {
  if (Status status = check_config(event); !status) return refused(status.error());
  auto calibrator = make_calibrator(event.calibrator, event.calibrator_version, event.calibrator_parameters);
  if (!calibrator) return refused(calibrator.error());
  auto new_vote = make_vote(event.vote, event.vote_version, event.vote_parameters);
  if (!new_vote) return refused(new_vote.error());

  auto new_trust = DecisionTrust::make(event.trust, event.trust_version, event.trust_parameters);
  if (!new_trust) return refused(new_trust.error());

  PoolConfigured resolved = event;
  resolved.calibrator_parameters = (*calibrator)->parameters();
  resolved.vote_parameters = (*new_vote)->parameters();
  resolved.trust_parameters = new_trust->calibrator().parameters();
  if (vote != nullptr && resolved == config) return changed(false);

  CalibratorRecipe new_recipe{resolved.calibrator, resolved.calibrator_version, resolved.calibrator_parameters};
  const bool same_recipe = new_recipe == recipe;
  if (!same_recipe) cells.reset(new_recipe);
  const bool same_vote = vote != nullptr && resolved.vote == config.vote && resolved.vote_version == config.vote_version &&
                         resolved.vote_parameters == config.vote_parameters;
  if (!same_vote) vote = std::move(*new_vote);
  const bool same_trust = resolved.trust == config.trust && resolved.trust_version == config.trust_version &&
                          resolved.trust_parameters == config.trust_parameters;
  if (!(same_recipe && same_vote && same_trust)) {
    trust = std::move(*new_trust);
    decisions.change_all([](DecisionRecord& decision) { decision.share.reset(); });
  }
  if (recipe.identifier.empty() || resolved.watched_models_max != config.watched_models_max) {
    watch = PoolWatch(resolved.watched_models_max);
    decisions.change_all([](DecisionRecord& decision) {
      if (!decision.later->opinions.empty()) decision.later.change().opinions.clear();
    });
  }
  if (resolved.source_share_max != config.source_share_max) influence = Influence();
  if (resolved.remedy != config.remedy) remedy = std::move(make_remedy(resolved.remedy)).value();
  recipe = std::move(new_recipe);
  config = std::move(resolved);
  ApplyResult result;
  result.lapsed = advance(time_ms);
  return result;
}

ApplyResult PoolState::on(const LearningFrozen&, Context) { return changed(!std::exchange(frozen, true)); }
ApplyResult PoolState::on(const LearningResumed&, Context) { return changed(std::exchange(frozen, false)); }

}  // namespace margin::internal
