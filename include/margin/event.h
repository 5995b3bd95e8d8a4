// Events: what happened to a pool, in the order it happened. A pool's state is the fold of its events (margin/pool.h); nothing else
// changes it. Plain values, no behaviour.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "margin/answer.h"
#include "margin/digest.h"
#include "margin/parameter.h"
#include "margin/sureness.h"
#include "margin/term.h"
#include "margin/uuid.h"

namespace margin {

// How a pool calibrates and votes, and the bounds of its memory. Replaces the whole configuration. A change of calibrator, its version
// or its parameters starts calibration anew (likewise the vote); models stay members.
struct PoolConfigured {
  std::string calibrator = "margin";
  int calibrator_version = 1;  // a certain one, so that a log means the same to every later binary; find_calibrator() tells the newest
  Parameters calibrator_parameters;
  std::string vote = "sum";
  int vote_version = 1;
  Parameters vote_parameters;
  // The calibrator of the decision's own probability (margin/decision.h); one that learns online. Whatever changes what a share means, a
  // change of this, of the calibrator or of the vote, starts it anew.
  std::string trust = "margin_adaptive";
  int trust_version = 3;
  Parameters trust_parameters;

  // What a feedback that grades only some responses of a decision teaches about the others (margin/remedy.h): "none", "weighted", "implied"
  // (nothing more than none for kinds of task with many right answers, see one_right_answer), "estimated".
  std::string remedy = "none";
  double audit_rate = 0.0;  // in [0, 1]: the chance with which each response beside the selected answer is wanted graded all the same

  // In (0, 1]: the most that one source of feedback may have of what a model learned of late; what it says beyond is not learned. 1: no
  // cap.
  double source_share_max = 1.0;

  // In (0, 1]: a question that says nothing of it abstains where the promised error is larger. 1: it never does.
  double max_error = 1.0;

  // A decision waits this long, in event time, for its outcomes; feedback this long for its decision.
  std::int64_t pending_ms_max = std::int64_t{30} * 24 * 3600 * 1000;
  std::uint32_t models_max = 1000;
  std::uint32_t cells_max = 1000;                // (channel, segment) pairs
  std::uint32_t responses_max = 256;             // in one decision
  std::uint32_t decisions_max = 1'000'000;       // the oldest expires first
  std::uint32_t early_max = 100'000;             // outcomes kept that came before their decision
  std::uint32_t remembered_events_max = 65'536;  // ids by which an event applied twice is recognised
  std::uint32_t watched_models_max = 64;         // 0 .. 1024: the first so many models are watched for drift and gaming (margin/watch.h)

  bool operator==(const PoolConfigured&) const = default;
};

struct ModelJoined {
  std::string model;
  std::string predecessor;  // the version it replaces, whose factors it enters with; empty: enters from the pool

  bool operator==(const ModelJoined&) const = default;
};

struct ModelLeft {
  std::string model;

  bool operator==(const ModelLeft&) const = default;
};

// One response as it was calibrated when the decision was made.
struct RecordedResponse {
  std::string model;
  std::string channel;
  std::optional<double> confidence;  // as stated; none makes the response unusable
  std::uint32_t answer = kNoAnswer;  // group among the decision's answers
  std::string answer_text;           // what the pool's privacy setting keeps; may be empty
  bool abstained = false;            // recorded, never learned from
  double calibrated = 0.0;           // meaningful when was_calibrated()
  double audit = 0.0;                // not 0: wanted graded although not selected, chosen with this chance (margin/audit.h)

  // Why, for people. Nothing is learned from it.
  double factor = 1.0;      // calibrated / stated; as pinned where it is; 1 where nothing is stated
  std::uint32_t band = 0;   // of the stated confidence
  double n = 0.0;           // weighted observations behind this (model, band)
  double weight = 0.0;      // what the ballot added to its answer's score
  std::vector<Term> terms;  // of the weight, where the vote has some: scale, x and trust of `stacked`

  bool operator==(const RecordedResponse&) const = default;
};

// Whether it was calibrated. Who states nothing, abstains, or whose model has left the pool was not: what it is worth is not known.
[[nodiscard]] inline bool was_calibrated(const RecordedResponse& response) {
  if (!response.confidence || response.abstained) return false;
  // Worth 0 of a positive confidence is a factor of 0.
  return !(response.calibrated == 0.0 && response.factor == 1.0 && *response.confidence > 0.0);
}

// Without this model another answer would have been selected.
struct DecisiveModel {
  std::string model;
  std::uint32_t answer = kNoAnswer;  // that one; kNoAnswer: none

  bool operator==(const DecisiveModel&) const = default;
};

// A decision's id is its event's id.
struct DecisionMade {
  std::string task;
  std::string segment;
  AnswerKind kind = AnswerKind::kExact;
  std::vector<RecordedResponse> responses;
  std::vector<Digest> answers;          // digest of each distinct answer's canonical form, by group
  std::uint32_t selected = kNoAnswer;   // group
  std::string selected_model;           // the leading response of the selected answer
  double share = 0.0;                   // the winner's part of the score
  double runner_up_gap = 0.0;           // share minus that of the next answer
  std::vector<double> scores;           // of the vote, by group
  Sureness sure;                        // how likely the selected answer is right; p_correct is 0 when nothing is selected
  std::optional<double> max_error;      // that was asked for, in (0, 1)
  bool abstained = false;               // 1 - p_correct > max_error: the answer should not be used; its outcome teaches all the same
  std::vector<DecisiveModel> decisive;  // each taken out alone; the 32 models with most weight were tried
  double audit_rate = 0.0;              // the chance with which each response beside the selected answer was to be audited
  bool probe = false;                   // made to learn from: everybody is to be graded
  std::string vote;                     // by which it was made, when that is not the pool's own; "primary": by Question::primary
  double propensity = 1.0;              // in (0, 1]: the chance with which these models were asked, where that was left to chance

  bool operator==(const DecisionMade&) const = default;
};

// A resolved grade.
struct Grade {
  std::string model;
  double outcome = 0.0;
  std::string channel{};  // empty: every response of the model in that decision; {} so that {model, outcome} is complete

  bool operator==(const Grade&) const = default;
};

// What became known about a decision. A feedback's id is its event's id. Exactly one of the three forms:
// resolved grades (what a server appends when it knows the decision), or, for feedback that precedes its decision, the gold answer's text
// or the selected answer's outcome, resolved when the decision comes.
struct OutcomeObserved {
  Uuid decision;
  std::vector<Grade> grades;
  std::optional<std::string> gold;
  std::optional<double> selected;
  double weight = 1.0;  // in [0, 1]; 0: on record only, grades nobody
  std::string source;   // who says so; reverts may name it

  bool operator==(const OutcomeObserved&) const = default;
};

// Takes back one feedback (by its id), or all earlier feedback of a source. A mark: the pool must then be folded again (margin/pool.h).
struct OutcomeReverted {
  std::optional<Uuid> feedback;
  std::string source;  // used when `feedback` is absent

  bool operator==(const OutcomeReverted&) const = default;
};

// Outcomes are recorded and not learned.
struct LearningFrozen {
  bool operator==(const LearningFrozen&) const = default;
};
struct LearningResumed {
  bool operator==(const LearningResumed&) const = default;
};

// Calibrated confidence of this model is factor x stated from now on, in every cell; learning goes on underneath.
struct FactorPinned {
  std::string model;
  double factor = 1.0;  // in [0, 20]

  bool operator==(const FactorPinned&) const = default;
};
struct FactorUnpinned {
  std::string model;

  bool operator==(const FactorUnpinned&) const = default;
};

// The models and calibrator cells of another pool are taken over, their evidence worth `trust` of what it was there. Only by a pool with
// the same calibrator that has made no decision yet.
struct StateImported {
  std::string state;   // that pool's snapshot
  double trust = 1.0;  // in (0, 1]

  bool operator==(const StateImported&) const = default;
};

using EventBody = std::variant<PoolConfigured, ModelJoined, ModelLeft, DecisionMade, OutcomeObserved, OutcomeReverted, LearningFrozen,
                               LearningResumed, FactorPinned, FactorUnpinned, StateImported>;

struct Event {
  Uuid id;
  std::int64_t time_ms = 0;  // the server's clock at append; a pool's time never goes back (an earlier stamp counts as the latest seen)
  EventBody body;

  bool operator==(const Event&) const = default;
};

}  // namespace margin
