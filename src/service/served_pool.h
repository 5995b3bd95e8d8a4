// ServedPool: one pool as a server holds it: its state, which part of the log that state holds, the requests it has seen and how well its
// latest outcomes were calibrated. Everything here but the state itself is a convenience that is made anew from state and log.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/event_log.h"
#include "margin/pool.h"
#include "margin/sureness.h"
#include "service/factor_board.h"
#include "service/insight.h"
#include "service/request_memory.h"
#include "service/score_window.h"

namespace margin::service {

// Feedback is counted by what became of it.
inline constexpr std::size_t kApplyStatuses = 8;

struct PoolCounts {
  std::uint64_t decisions = 0;  // with those from before this server started, as far as state and end of the log tell
  std::uint64_t abstained = 0;
  std::array<std::uint64_t, 4> by_status{};              // of decisions, by TrustStatus
  std::array<std::uint64_t, kApplyStatuses> feedback{};  // by ApplyStatus, as it was answered
  std::uint64_t dropped = 0;                             // of it, what came before its decision and did not fit it
  std::uint64_t lapsed = 0;                              // early feedback whose decision did not come in time
  std::uint64_t lag_count = 0;                           // outcomes that found their decision, and
  double lag_seconds = 0.0;                              // how long after it they came, summed
};

class ServedPool {
 public:
  struct Limits {
    std::size_t requests = 100'000;  // remembered by Idempotency-Key
  };
  ServedPool(std::string name, Pool pool, std::uint64_t next_offset, const Limits& limits);

  [[nodiscard]] const std::string& name() const { return name_; }
  // Whose pool it is: what stands before the first slash of its name.
  [[nodiscard]] std::string_view tenant() const {
    const std::size_t end = name_.find('/');
    return end == std::string::npos ? std::string_view() : std::string_view(name_).substr(0, end);
  }
  [[nodiscard]] const Pool& pool() const { return pool_; }
  // The state is the fold of every event before this offset.
  [[nodiscard]] std::uint64_t next_offset() const { return next_offset_; }
  [[nodiscard]] RequestMemory& requests() { return requests_; }
  [[nodiscard]] const PoolCounts& counts() const { return counts_; }
  // By model; the pool's own decisions under kDecisions, where p_correct stands for both stages.
  static constexpr std::string_view kDecisions = "@pool";
  [[nodiscard]] const std::map<std::string, ScoreWindow, std::less<>>& scores() const { return scores_; }

  [[nodiscard]] const Insight& insight() const { return insight_; }
  // Decisions whose outcome would be learned from now, what teaches most first.
  [[nodiscard]] std::vector<const DecisionRow*> queue(std::size_t count, std::int64_t now_ms) const;
  // The factors as they were at most a moment ago (service/factor_board.h).
  [[nodiscard]] const std::vector<FactorRow>& factor_board() { return board_.rows(pool_, next_offset_, std::chrono::steady_clock::now()); }
  // What the log tells of the time before this server started, in its order; then once recalled().
  void recall(const Record& record);
  void recalled();

  // The time for the next event: the clock's, but never before an earlier event of this pool.
  [[nodiscard]] std::int64_t stamp(std::int64_t clock_ms);

  ApplyResult apply(std::uint64_t offset, const Event& event);
  // What a feedback was answered with, whether it was written or not.
  void count_feedback(ApplyStatus status) { ++counts_.feedback[static_cast<std::size_t>(status)]; }
  // Of an outcome that counts: how long after its decision it came.
  void count_lag(const Event& outcome);
  // Early feedback that did not fit the decision it waited for.
  void count_dropped(std::size_t feedbacks) { counts_.dropped += feedbacks; }
  // A state that was folded anew, up to the offset this one has; returns the one before.
  Pool swap_state(Pool pool);

  // The state has none; what is remembered beside it may.
  void forget_texts(Uuid decision) { insight_.forget_texts(decision); }

  // A snapshot of the state as it is now, copied bit by bit while events go on being applied: the pieces of its bytes when it is done.
  // A state that is swapped has none under way.
  void begin_snapshot() { pool_.begin_snapshot(); }
  [[nodiscard]] bool snapshot_under_way() const { return pool_.snapshot_under_way(); }
  [[nodiscard]] std::optional<std::vector<std::string>> continue_snapshot(std::size_t decisions) {
    return pool_.continue_snapshot(decisions);
  }
  // The state holds an outcome that was taken back, until it is folded anew: not to be kept.
  [[nodiscard]] bool needs_fold() const { return needs_fold_; }

  std::uint64_t next_snapshot = 0;   // the offset from which on one is due
  std::uint64_t snapshot_worth = 0;  // the events that come to the size of the last one
  bool folding = false;              // a new fold is under way
  bool snapshotting = false;

 private:
  void count(const Event& event, const ApplyResult& result);
  void count_joined(const Event& decision, const std::vector<ApplyResult::Joined>& joined);
  void score(const DecisionView& decision, Uuid feedback, std::int64_t time_ms);

  std::string name_;
  Pool pool_;
  std::uint64_t next_offset_;
  std::int64_t stamped_ms_;
  RequestMemory requests_;
  PoolCounts counts_;
  std::map<std::string, ScoreWindow, std::less<>> scores_;
  Insight insight_;
  FactorBoard board_;
  bool needs_fold_;
};

}  // namespace margin::service
