// Pool: a deterministic fold over events. `apply` is total: every event in every state has a defined effect (docs/pool.md has the table);
// an event that cannot be applied says why and leaves nothing but its id and its time. No clock, no randomness, no I/O; time is the events'
// own.
//
//   margin::Pool pool;
//   auto decision = pool.decide({.responses = {{.model = "a", .answer = "Paris", .confidence = 0.9},
//                                              {.model = "b", .answer = "Lyon", .confidence = 0.95}}});
//   double p = decision.value().sure.p_correct;                            // that the selected answer is right
//   margin::Event made{.id = id, .time_ms = now, .body = decision.value()};
//   pool.apply(made);                                                      // append it to a log first, then apply
//   pool.apply({.id = id2, .time_ms = later, .body = margin::OutcomeObserved{.decision = id, .grades = {{"a", 1.0}, {"b", 0.0}}}});
//
// Not thread-safe; const functions may run at the same time as each other. Copy by snapshot and restore.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/audit.h"
#include "margin/calibrator.h"
#include "margin/digest.h"
#include "margin/event.h"
#include "margin/result.h"
#include "margin/vote.h"
#include "margin/watch.h"

namespace margin {

// What a model said, before calibration.
struct Response {
  std::string model;
  std::optional<std::string> answer;                    // none: calibrated, does not vote
  std::optional<double> confidence;                     // none (or NaN): unusable
  std::string channel{std::string_view("verbalized")};  // as a view: the compiler then knows its length, and copies ten bytes
  bool abstained = false;
};

struct Question {
  std::string task;
  std::string segment;
  AnswerKind kind = AnswerKind::kExact;
  std::vector<Response> responses;
  std::optional<double> max_error;  // in (0, 1): abstain where the promised error is larger; none: as the pool's configuration says
  // By the task's name; where tasks have none, give each question a seed of its own. A rate of 0 means that of the pool's configuration.
  AuditPlan audits;
  // Another vote than the pool's, NAME or NAME@VERSION, for this decision: one that learns nothing. Nothing is known of its shares, so the
  // decision's probability is as cold as a new pool's, and its outcome does not teach the pool's own.
  std::string vote;
  // The model whose answer is selected whatever the others say, who are heard to learn from them. Without a usable answer of it, the vote
  // decides. Not together with `vote`.
  std::string primary;
  double propensity = 1.0;  // in (0, 1]: the chance with which these models were asked
  bool probe = false;       // a task whose outcomes will all be known: everybody is to be graded (audits with a rate of 1)
};

// A question in the shape of the decision it becomes, so that deciding copies none of its texts. Asked are, in `decision`: task, segment,
// kind, max_error, probe, propensity, and of each response model, channel, confidence, abstained, and the answer: its text, and any group
// but kNoAnswer. What else is there has its default. The rest is as in a Question.
struct Draft {
  DecisionMade decision;
  AuditPlan audits;
  std::string vote;
  std::string primary;
};

enum class ApplyStatus {
  kApplied,    // the state changed as the event says
  kDuplicate,  // nothing changed: the event was seen before, or the pool already is as it says (the same outcome again, a present model
               // joins)
  kPendingDecision,  // an outcome whose decision has not come; kept, and joined when it comes
  kExpired,          // an outcome of a decision that has already expired; nothing learned
  kConflict,         // a different outcome for a response that already has one; nothing learned (revert the first one to replace it)
  kReverted,         // an outcome that had been reverted before it came; nothing learned
  kRefold,           // a revert was marked: the state still holds what was reverted until the pool is folded again (see fold)
  kRefused,          // malformed, unknown or beyond a bound; nothing learned; `error` says why
};

// "applied", "duplicate", "pending_decision", "expired", "conflict", "reverted", "folding", "refused": as the server answers.
[[nodiscard]] std::string_view name_of(ApplyStatus status);

struct ApplyResult {
  ApplyStatus status = ApplyStatus::kApplied;
  std::optional<Error> error;          // for kRefused and kConflict
  std::vector<std::string> learned;    // models that learned from an outcome
  std::vector<std::string> implied;    // models that learned from what the outcomes of others imply (PoolConfigured::remedy)
  std::vector<std::string> unlearned;  // graded, not learned: away, abstained, unusable, learning is frozen, or learned when it was implied
  // Graded by a source that has its share (PoolConfigured::source_share_max): the statement is kept, not learned, and no outcome.
  std::vector<std::string> capped;
  std::vector<Uuid> dropped;  // early feedback that does not fit the decision it waited for, or contradicts what came before it
  // Early feedback that was recorded with the decision it waited for, first come first.
  struct Joined {
    Uuid feedback;
    ApplyStatus status = ApplyStatus::kApplied;  // or kDuplicate
    std::vector<std::string> learned;            // also among the `learned` of the event
  };
  std::vector<Joined> joined;
  std::vector<Uuid> reverted;  // feedback that a revert took back
  std::size_t lapsed = 0;      // early feedback that had waited pending_ms_max when this event came, and is forgotten
};

// What a factor rests on.
struct FactorEvidence {
  double effective_n = 0.0;  // observations that the calibrator still remembers, (sum of weights)^2 / sum of squared weights
  double stated = 0.0;       // mean stated confidence of those; the band's midpoint before there are any
  double low = 0.0;          // 90% interval of the factor there, from these observations alone, widened to hold the calibrated factor
  double high = 0.0;
};

// One (model, channel, segment, band), for people.
struct FactorRow {
  std::string model;
  std::string channel;
  std::string segment;
  bool present = false;
  std::optional<double> pinned;
  Explanation explanation;                 // at the band's midpoint
  std::optional<FactorEvidence> evidence;  // of margin and margin_adaptive; nullopt for other methods
};

// A report of the pool's watch (margin/watch.h), with names and the time of the event that completed the evidence. Nothing acts on it.
struct Alarm {
  std::string subject;  // a model, or the source of feedback; empty: the whole pool
  std::string other;    // the second model of a pair, else empty
  std::int64_t time_ms = 0;
  WatchReport report;  // its numbers of tasks count decisions in the order they were settled
};

// One response of a decision the pool still knows, and what became of it.
struct ResponseView {
  std::string model;
  std::string channel;
  std::string segment;
  std::uint32_t answer = kNoAnswer;
  bool usable = false;   // has a confidence and did not abstain
  bool part = false;     // and its model was present: calibrated
  bool learned = false;  // its outcome taught the calibrator
  double confidence = 0.0;
  double calibrated = 0.0;
  std::optional<double> outcome;
  std::optional<Uuid> feedback;  // that gave the outcome
  std::uint32_t place = 0;       // of that feedback in the order in which the decision's came
};

// Whoever keeps nothing of a decision's answers puts this in the place of each group's digest; a gold answer equals none of them, so it is
// refused rather than taken for a sign that everybody is wrong.
[[nodiscard]] constexpr Digest unkept_answer(std::size_t group) { return {0, group}; }
[[nodiscard]] bool answers_are_kept(std::span<const Digest> answers);

struct DecisionView {
  Uuid id;
  std::int64_t time_ms = 0;
  std::uint32_t selected = kNoAnswer;
  double p_correct = 0.0;  // as promised when it was made
  // Of the decision itself: what the first feedback that graded a response with the selected answer said of those, the largest.
  std::optional<double> outcome;
  std::optional<Uuid> settled_by;  // that feedback
  std::vector<ResponseView> responses;
};

// A feedback beside what has been said of its decision already.
struct Comparison {
  struct Said {
    Uuid feedback;
    std::string source;
  };
  bool known = false;              // the decision; else it is compared with what waits for it
  bool fresh = false;              // it says something of a response of which nobody has said anything
  std::vector<Said> same;          // who said the same of a response
  std::vector<Said> contradicted;  // who said otherwise
  // Whom it says something new of nobody would learn from it now: its source has said its share (PoolConfigured::source_share_max). Never
  // of a decision that is not known.
  bool capped = false;
  // Feedback that is on record and grades nobody, of weight 0 or capped: what its own source said so, oldest first, and how many in all. Of
  // a decision that is not known, that of weight 0.
  std::vector<Uuid> ungraded;
  std::size_t ungraded_count = 0;
  // How much of what a decision keeps is its own source's and grades nobody: the above, and what was taken back; of a decision that is not
  // known, all that waits for it.
  std::size_t idle = 0;
};

class Pool;
using PoolSource = std::function<Result<Pool>()>;
// Calls `visit` with every event in order.
using EventSource = std::function<Status(const std::function<void(const Event&)>& visit)>;
// Called before each event with how many came before it, and the state they come to.
using FoldWatcher = std::function<void(std::size_t events, const Pool& state)>;

class Pool {
 public:
  Pool();  // configured with the defaults of PoolConfigured
  ~Pool();
  Pool(Pool&&) noexcept;
  Pool& operator=(Pool&&) noexcept;

  // Calibrates and votes with the state as it is; changes nothing. The result becomes the body of the decision's event.
  // A model that never answered in a cell is calibrated as the newcomer it will be. A model that left is recorded and has no part.
  // kInvalidArgument: no response, a model twice in one channel, a name that is empty, over 256 bytes, begins with '@' or has control
  // characters, a confidence outside [0, 1], a max_error outside (0, 1); kLimit: more responses, models or cells than configured;
  // kNotFound: no such vote; kUnsupported: another vote that learns.
  [[nodiscard]] Result<DecisionMade> decide(const Question& question) const;
  // The same, in place and sooner. A draft that is refused means nothing any more.
  [[nodiscard]] Status decide(Draft& draft) const;

  // Whether the selected answer of a decision made with the state as it is would stay, whatever `more` further responses to the question
  // said. False where that cannot be told: with votes in which a response changes what the others count.
  [[nodiscard]] bool settled(const DecisionMade& decision, std::size_t more) const;

  // Turns a gold answer, or the selected answer's outcome, into the grades of a known decision; grades pass through, checked.
  // kNotFound: unknown decision; kInvalidArgument: a model that did not answer, an outcome outside [0, 1], not exactly one form;
  // kUnsupported: a gold answer, where the digests of the decision's answers were not kept (answers_are_kept).
  [[nodiscard]] Result<std::vector<Grade>> resolve(const OutcomeObserved& outcome) const;

  // What an outcome would add, repeat or contradict if it were applied now; without effect. What was taken back counts as never said.
  // Errors as for resolve(), but for an unknown decision, where it is compared with the feedback that waits: the same form with the same
  // numbers is the same, other numbers for the same contradict, and two forms cannot be compared before the decision is known.
  [[nodiscard]] Result<Comparison> compare(const OutcomeObserved& outcome) const;

  // Whether two feedbacks of one known decision say different things of one of its responses; false where either does not fit it.
  [[nodiscard]] bool contradict(const OutcomeObserved& one, const OutcomeObserved& other) const;

  // Feedback that waits in another pool for a decision that was made in this one: what it says here, as grades, or why it does not fit
  // (errors as for resolve). First come first; without what was taken back.
  struct TakenOver {
    Uuid feedback;
    Result<OutcomeObserved> outcome;
  };
  [[nodiscard]] std::vector<TakenOver> take_over(Uuid decision, const Pool& from) const;
  // Feedback of this source is remembered, or waits: what a revert by source would find.
  [[nodiscard]] bool heard(std::string_view source) const;
  // Early feedback waits for it.
  [[nodiscard]] bool awaits(Uuid decision) const;
  // The decisions that early feedback waits for, each once.
  [[nodiscard]] std::vector<Uuid> awaited_decisions() const;
  // Gold answers among what waits for a decision.
  [[nodiscard]] std::vector<Uuid> waiting_golds(Uuid decision) const;
  // A model of which the outcome is told, and that gave different answers in its decision, which is known: no one number is true of them.
  [[nodiscard]] std::optional<std::string> ambiguous_model(const OutcomeObserved& outcome) const;
  // What waits for a decision with such an outcome.
  [[nodiscard]] std::vector<Uuid> waiting_ambiguous(Uuid id, const DecisionMade& decision) const;

  ApplyResult apply(const Event& event);

  [[nodiscard]] const PoolConfigured& config() const;
  [[nodiscard]] std::int64_t time_ms() const;
  [[nodiscard]] bool frozen() const;
  [[nodiscard]] std::vector<std::string> present_models() const;  // in the order of joining
  [[nodiscard]] std::size_t known_decisions() const;              // made here and not expired
  [[nodiscard]] std::size_t pending_decisions() const;            // known decisions with a response that has no outcome yet
  [[nodiscard]] std::size_t early_outcomes() const;    // kept before their decision; what was taken back keeps its place among early_max
  [[nodiscard]] std::size_t waiting_outcomes() const;  // of these, what was not taken back and counts when the decision comes
  // The state holds an outcome that was taken back (after kRefold, until folded again): do not keep a snapshot of it.
  [[nodiscard]] bool needs_fold() const;
  // Calibrated confidence of a known model in a known cell, pins included. kNotFound: either is unknown; kInvalidArgument: confidence
  // outside [0, 1].
  [[nodiscard]] Result<double> calibrate(std::string_view model, std::string_view channel, std::string_view segment,
                                         double confidence) const;
  [[nodiscard]] std::vector<FactorRow> factors() const;

  // In the order in which they were first completed; the newest 1000.
  [[nodiscard]] std::vector<Alarm> alarms() const;

  [[nodiscard]] bool knows(Uuid decision) const;
  [[nodiscard]] std::optional<DecisionView> decision(Uuid id) const;  // nullopt: never made here, or expired
  // What was said of a known decision, first come first; without what was taken back, unless the state still holds it (needs_fold).
  [[nodiscard]] std::vector<Uuid> said_of(Uuid decision) const;
  // The feedback that responses of known decisions have their outcomes from, in the order in which it was said: the latest `count`. Looks
  // at every known decision.
  struct Grading {
    Uuid decision;
    Uuid feedback;
    std::int64_t time_ms = 0;  // of the event that recorded it: the decision's, where the feedback came first
  };
  [[nodiscard]] std::vector<Grading> latest_gradings(std::size_t count) const;
  // The newest `count` decisions, oldest first.
  [[nodiscard]] std::vector<Uuid> latest_decisions(std::size_t count) const;
  [[nodiscard]] std::optional<Uuid> oldest_decision() const;

  [[nodiscard]] std::string snapshot() const;
  // The same bytes for whoever cannot wait for a large state: begin_snapshot() takes down what is small, and fixes the moment;
  // continue_snapshot() copies so many decisions, as they were then, whatever was applied since, until it gives the pieces of the whole.
  // Another begin_snapshot() begins anew; without one under way, continue_snapshot() does nothing.
  void begin_snapshot();
  [[nodiscard]] std::optional<std::vector<std::string>> continue_snapshot(std::size_t decisions);
  [[nodiscard]] bool snapshot_under_way() const;
  [[nodiscard]] Digest digest() const { return digest_of(snapshot()); }
  // kCorrupt; kNotFound for a calibrator or vote version this binary does not know; kUnsupported for a snapshot of a newer format.
  [[nodiscard]] static Result<Pool> restore(std::string_view bytes);

 private:
  friend Result<Pool> fold(const PoolSource& start, const EventSource& events, const FoldWatcher& watch);

  struct State;
  explicit Pool(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The fold of the effective log: `events` without the outcomes that reverts among them take back, applied in order on top of `start`.
// After kRefold, call it with a pool restored from the last snapshot before the reverted outcome and all events since; the result is what
// the pool would be had that outcome never come (but for the mark itself).
[[nodiscard]] Pool fold(Pool start, std::span<const Event> events);
// The same over events that need not be in memory. Both sources are asked once, and once more if something was taken back; the first
// error is returned. `watch` hears of both times: what it sees the last time is already without what later events take back.
[[nodiscard]] Result<Pool> fold(const PoolSource& start, const EventSource& events, const FoldWatcher& watch = {});

}  // namespace margin
