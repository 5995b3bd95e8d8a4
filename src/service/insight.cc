#include "service/insight.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/same_text.h"

namespace margin::service {
namespace {

constexpr std::size_t kMetMax = 65'536;

}  // namespace

// What an event says by itself, whether it is applied now or was before this server started.
void Insight::note(const Event& event, bool same_models) {
  if (const auto* made = std::get_if<DecisionMade>(&event.body)) {
    if (ActivityStep* step = activity_.at(event.time_ms)) {
      ++step->decisions;
      if (made->abstained) ++step->abstained;
    }
    votes_.add(*made, same_models);
    decisions_.add(event.id, event.time_ms, *made);
  } else if (const auto* joined = std::get_if<ModelJoined>(&event.body)) {
    models_.insert(joined->model);
    history_.mark({event.time_ms, "joined", joined->model});
  } else if (const auto* left = std::get_if<ModelLeft>(&event.body)) {
    history_.mark({event.time_ms, "left", left->model});
  } else if (std::holds_alternative<OutcomeReverted>(event.body)) {
    history_.mark({event.time_ms, "reverted", ""});
  }
}

void Insight::recall(const Event& event) {
  latest_.clear();
  note(event, false);
}

void Insight::applied(const Pool& pool, const Event& event, const ApplyResult& result) {
  new_alarms_.clear();
  if (result.status != ApplyStatus::kApplied && result.status != ApplyStatus::kRefold) return;
  const auto* made = std::get_if<DecisionMade>(&event.body);
  const bool same_models = made != nullptr && same_as_latest(*made);
  note(event, same_models);
  if (made != nullptr) {
    if (!same_models) meet(event, *made);
  } else if (std::holds_alternative<OutcomeObserved>(event.body)) {
    learned(pool, event.time_ms, !result.learned.empty() || !result.unlearned.empty());
  } else {
    history_.somebody_new();
  }
}

void Insight::learned(const Pool& pool, std::int64_t time_ms, bool graded) {
  if (graded) count_outcome(time_ms);
  if (history_.learned(pool, time_ms)) look_for_alarms(pool);
}

void Insight::count_outcome(std::int64_t time_ms) {
  if (ActivityStep* step = activity_.at(time_ms)) {
    ++step->outcomes;
    step->ece_stated = responses_.ece(ScoreWindow::Stage::kStated);
    step->ece_calibrated = responses_.ece(ScoreWindow::Stage::kCalibrated);
  }
}

// Models join with their first response, and have factors in a cell from their first response there.
void Insight::meet(const Event& event, const DecisionMade& decision) {
  const std::hash<std::string> hash;
  const std::size_t segment = hash(decision.segment) * 31;
  for (const RecordedResponse& response : decision.responses) {
    // What is forgotten is only looked at once more.
    if (met_.size() >= kMetMax) met_.clear();
    if (!met_.insert((hash(response.model) * 31 + hash(response.channel)) * 31 + segment).second) continue;
    history_.somebody_new();
    if (models_.insert(response.model).second) history_.mark({event.time_ms, "joined", response.model});
  }
}

// Most pools ask the same models every time.
bool Insight::same_as_latest(const DecisionMade& decision) {
  bool same = latest_.size() == 1 + 2 * decision.responses.size();
  latest_.resize(1 + 2 * decision.responses.size());
  const auto compare = [&](std::string& known, const std::string& name) {
    if (internal::same_text(known, name)) return;
    same = false;
    known = name;
  };
  compare(latest_[0], decision.segment);
  for (std::size_t i = 0; i < decision.responses.size(); ++i) {
    compare(latest_[1 + 2 * i], decision.responses[i].model);
    compare(latest_[2 + 2 * i], decision.responses[i].channel);
  }
  return same;
}

void Insight::graded(const DecisionView& decision, Uuid feedback, std::int64_t time_ms) {
  for (const ResponseView& response : decision.responses) {
    if (!response.outcome || response.feedback != feedback || !response.part) continue;
    const Scored scored{response.confidence, response.calibrated, *response.outcome};
    responses_.add(scored);
    timed_[response.model].add(time_ms, scored);
  }
  if (ActivityStep* step = decision.settled_by == feedback ? activity_.at(time_ms) : nullptr) {
    ++step->settled;
    step->promised_error += 1.0 - decision.p_correct;
    step->realised_error += 1.0 - *decision.outcome;
  }
  pairs_.add(decision, feedback);
  decisions_.grade(decision);
}

void Insight::forget_outcomes() {
  pairs_ = {};
  responses_ = {};
  timed_.clear();
  activity_.forget_settled();
}

void Insight::agree_with(const Pool& pool) {
  for (const std::string& model : pool.present_models()) models_.insert(model);
  decisions_.for_each([&](const DecisionRow& row) {
    if (const auto view = pool.decision(row.id)) decisions_.grade(*view);
  });
  history_.somebody_new();
  look_for_alarms(pool);
  new_alarms_.clear();
}

void Insight::look_for_alarms(const Pool& pool) {
  std::vector<Alarm> alarms = pool.alarms();
  alarms_ = alarms.size();
  std::int64_t newest = last_alarm_ms_;
  for (Alarm& alarm : alarms) {
    if (alarm.time_ms <= last_alarm_ms_) continue;
    newest = std::max(newest, alarm.time_ms);
    history_.mark({alarm.time_ms, std::string(watch_kind_name(alarm.report.kind)), alarm.subject});
    new_alarms_.push_back(std::move(alarm));
  }
  last_alarm_ms_ = newest;
}

}  // namespace margin::service
