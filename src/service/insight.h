// Insight: what people ask of a pool, maintained as events are applied, so that nothing is scanned when they ask. Convenience only: no
// decision depends on it, and it is made anew from state and log when a server starts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "margin/pool.h"
#include "service/activity.h"
#include "service/decision_index.h"
#include "service/factor_history.h"
#include "service/pair_tally.h"
#include "service/score_window.h"
#include "service/timed_scores.h"
#include "service/vote_tally.h"

namespace margin::service {

class Insight {
 public:
  // What the log tells of the time before this server started: events in their order, before anything is applied.
  void recall(const Event& event);
  // The event was applied to the pool.
  void applied(const Pool& pool, const Event& event, const ApplyResult& result);

  // Outcomes, told by whoever keeps scores: the ones that `feedback` gave to the decision.
  void graded(const DecisionView& decision, Uuid feedback, std::int64_t time_ms);
  // The pool has learned from them, or recorded them: of feedback that came before its decision, whose event was applied long ago.
  // `graded`: a response has its outcome from it.
  void learned(const Pool& pool, std::int64_t time_ms, bool graded);
  // That there were some, without what the pool learned: all there is to tell of those from before this server started, in their order.
  void count_outcome(std::int64_t time_ms);
  // All of them are told again: after a start, and after a new fold.
  void forget_outcomes();
  // They have been: what is shown of decisions and alarms is the pool's.
  void agree_with(const Pool& pool);

  // The task's name and the answer of a decision.
  void forget_texts(Uuid decision) { decisions_.forget_texts(decision); }

  [[nodiscard]] const Activity& activity() const { return activity_; }
  [[nodiscard]] const DecisionIndex& decisions() const { return decisions_; }
  [[nodiscard]] const FactorHistory& history() const { return history_; }
  [[nodiscard]] const PairTally& pairs() const { return pairs_; }
  [[nodiscard]] const VoteTally& votes() const { return votes_; }
  // Of the latest responses, whoever gave them.
  [[nodiscard]] const ScoreWindow& responses() const { return responses_; }
  // By model.
  [[nodiscard]] const std::map<std::string, TimedScores, std::less<>>& timed() const { return timed_; }

  [[nodiscard]] std::size_t alarms() const { return alarms_; }
  [[nodiscard]] std::int64_t last_alarm_ms() const { return last_alarm_ms_; }  // 0: none
  // Those that the latest call of applied() noticed.
  [[nodiscard]] const std::vector<Alarm>& new_alarms() const { return new_alarms_; }

 private:
  void note(const Event& event, bool same_models);
  void meet(const Event& event, const DecisionMade& decision);
  bool same_as_latest(const DecisionMade& decision);
  void look_for_alarms(const Pool& pool);

  Activity activity_;
  DecisionIndex decisions_;
  FactorHistory history_;
  PairTally pairs_;
  VoteTally votes_;
  ScoreWindow responses_;
  std::map<std::string, TimedScores, std::less<>> timed_;
  std::set<std::string, std::less<>> models_;  // whose joining is known
  std::unordered_set<std::size_t> met_;        // hashes of (model, channel, segment)
  std::vector<std::string> latest_;            // segment, then model and channel of each response of the latest decision
  std::size_t alarms_ = 0;
  std::int64_t last_alarm_ms_ = 0;
  std::vector<Alarm> new_alarms_;
};

}  // namespace margin::service
