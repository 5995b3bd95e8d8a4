// PoolState: everything a pool knows, and what each event does to it. One file per kind of event; pool.cc is the public face.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/decision.h"
#include "margin/event.h"
#include "margin/pool.h"
#include "margin/remedy.h"
#include "margin/vote.h"
#include "pool/cells.h"
#include "pool/decisions.h"
#include "pool/early.h"
#include "pool/id_window.h"
#include "pool/influence.h"
#include "pool/members.h"
#include "pool/pool_watch.h"
#include "pool/seating.h"
#include "pool/verdict.h"

namespace margin::internal {

struct PoolState {
  PoolState();

  PoolConfigured config;  // with every parameter resolved
  CalibratorRecipe recipe;
  std::unique_ptr<Vote> vote;
  Remedy remedy;
  std::optional<DecisionTrust> trust;  // always there; learns from every decision's outcome
  std::int64_t time_ms = 0;
  bool frozen = false;
  Members members;
  Cells cells;
  Decisions decisions;
  EarlyFeedback early;
  IdWindow awaited_reverts;  // of feedback that has not come
  IdWindow remembered;       // events applied
  PoolWatch watch;
  Influence influence;
  // Of a snapshot under way, while its decisions are copied: what stands before and behind them.
  std::string snapshot_head;
  std::string snapshot_tail;

  // `taken_back`: a later event of the log being folded reverts this outcome.
  ApplyResult apply(const Event& event, bool taken_back = false);

  [[nodiscard]] Result<DecisionMade> decide(const Question& question) const;
  [[nodiscard]] Status decide(Draft& draft) const;
  [[nodiscard]] bool settled(const DecisionMade& decision, std::size_t more) const;
  [[nodiscard]] Status decide_by(const Vote& by, const DecisionTrust& sure, Draft& draft) const;
  [[nodiscard]] bool needs_fold() const;
  [[nodiscard]] bool heard(std::string_view source) const;
  [[nodiscard]] std::vector<FactorRow> factors() const;
  [[nodiscard]] std::vector<Alarm> alarms() const;
  [[nodiscard]] std::optional<DecisionView> view(Uuid id) const;
  // kUnsupported: a gold answer for a decision whose answers were not kept.
  [[nodiscard]] static Status can_grade(bool by_gold, const DecisionRecord& decision);
  // Outcomes of responses as grades of models.
  [[nodiscard]] std::vector<Grade> grades_of(const DecisionRecord& decision, std::span<const double> outcomes) const;
  // An outcome of a model, of all of its responses, that is asked to be true of different answers.
  [[nodiscard]] bool is_ambiguous(const Grade& grade, const DecisionRecord& decision) const;
  // What waits for a decision with such an outcome.
  [[nodiscard]] std::vector<Uuid> waiting_ambiguous(Uuid id, const DecisionMade& decision) const;
  // What feedback that waits elsewhere says of a decision made here.
  [[nodiscard]] Result<OutcomeObserved> resolve_waiting(const Verdict& verdict, const DecisionRecord& decision) const;
  [[nodiscard]] Result<Comparison> compare(const OutcomeObserved& outcome) const;
  [[nodiscard]] std::vector<Uuid> latest(std::size_t count) const;
  // Pins included; the cell knows the model.
  [[nodiscard]] double calibrate(const Seat& seat, double confidence) const;

  void save(Encoder& out) const;
  // The same bytes, in pieces, while events go on being applied.
  void begin_snapshot();
  [[nodiscard]] std::optional<std::vector<std::string>> continue_snapshot(std::size_t decisions_at_once);
  [[nodiscard]] static Result<std::unique_ptr<PoolState>> load(std::string_view bytes);

 private:
  void save_before_decisions(Encoder& out) const;
  void save_after_decisions(Encoder& out) const;

  struct Context {
    Uuid id;
    bool taken_back = false;
  };

  [[nodiscard]] bool seen(const Event& event) const;
  ApplyResult apply_new(const Event& event, bool taken_back);
  // How much early feedback is forgotten unjoined.
  std::size_t advance(std::int64_t to_ms);
  // Its time lies before what the pool still remembers. Ids that carry no time never count as old.
  [[nodiscard]] bool forgotten(Uuid id) const;

  ApplyResult on(const PoolConfigured& event, Context context);
  ApplyResult on(const ModelJoined& event, Context context);
  ApplyResult on(const ModelLeft& event, Context context);
  ApplyResult on(const DecisionMade& event, Context context);
  ApplyResult on(const OutcomeObserved& event, Context context);
  ApplyResult on(const OutcomeReverted& event, Context context);
  ApplyResult on(const LearningFrozen& event, Context context);
  ApplyResult on(const LearningResumed& event, Context context);
  ApplyResult on(const FactorPinned& event, Context context);
  ApplyResult on(const FactorUnpinned& event, Context context);
  ApplyResult on(const StateImported& event, Context context);

  // Everyone is seated; refused are decisions out of bounds, and then nobody is.
  [[nodiscard]] Status seat(const DecisionMade& event, Seats& seats);
  // For decisions to come, of the same models.
  void prepare(std::span<const Seat> seats);
  ApplyResult remember(const DecisionMade& event, std::span<const Seat> seats, Uuid id);

  [[nodiscard]] Result<Comparison> compare_known(const OutcomeObserved& outcome, const DecisionRecord& decision) const;
  [[nodiscard]] Comparison compare_waiting(const OutcomeObserved& outcome) const;

  ApplyResult revert_feedback(Uuid feedback);
  ApplyResult revert_source(std::string_view source);

  // Records a verdict's outcomes with the decision and learns them; all or nothing.
  ApplyResult record(DecisionRecord& decision, const FeedbackMark& mark, const Verdict& verdict, std::span<const double> outcomes);
  ApplyResult grade(DecisionRecord& decision, const Verdict& verdict, std::span<const double> outcomes);

  // What one response teaches the calibrator of its cell.
  struct Taught {
    std::size_t response = 0;
    double outcome = 0.0;
    double weight = 1.0;
  };
  // What a feedback has just recorded with a decision.
  struct Grading {
    std::uint32_t feedback = 0;         // among the decision's
    std::span<const std::size_t> news;  // responses whose outcome was not learned before
    double weight = 1.0;
    bool complete = false;  // it grades every response that takes part, and not because all of them were audited
  };
  std::vector<Taught> learn(DecisionRecord& decision, const Grading& grading);
  // A grade of this response is what was implied of it, and has been learned.
  [[nodiscard]] static bool confirms(const DecisionRecord& decision, const DecisionRecord::Response& response, double outcome);
  // A grade of this response is something to learn.
  [[nodiscard]] bool teaches(const DecisionRecord& decision, const DecisionRecord::Response& response, double outcome) const;
  // A source may teach this model one more outcome.
  [[nodiscard]] bool would_heed(std::string_view source, ModelId model, double weight) const;
  // The same of the source of a feedback; counted if so.
  bool heeds(const FeedbackMark& feedback, ModelId model, double weight);
  // The pool's remedy is for its kind of task.
  [[nodiscard]] bool remedied(const DecisionRecord& decision) const;
  [[nodiscard]] static std::vector<Taught> plain_lessons(const DecisionRecord& decision, const Grading& grading);
  // What it implies of the others is recorded.
  [[nodiscard]] std::vector<Taught> remedied_lessons(DecisionRecord& decision, const Grading& grading);
  [[nodiscard]] static bool settles(const DecisionRecord& decision, const Grading& grading);
  void teach(const DecisionRecord& decision, std::span<const Taught> lessons);
  void teach_vote(const DecisionRecord& decision);
  void teach_trust(DecisionRecord& decision, std::span<const std::size_t> fresh);
};

// An answer to an event, in short.
[[nodiscard]] inline ApplyResult refused(Error error) { return {.status = ApplyStatus::kRefused, .error = std::move(error)}; }
[[nodiscard]] inline ApplyResult refused(ErrorCode code, std::string message) { return refused(Error{code, std::move(message)}); }
[[nodiscard]] inline ApplyResult changed(bool really) { return {.status = really ? ApplyStatus::kApplied : ApplyStatus::kDuplicate}; }

}  // namespace margin::internal
