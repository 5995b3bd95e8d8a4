// Decisions: what a pool remembers of the decisions it made, until they expire, so that outcomes find them and a second outcome is
// recognised. Texts are not kept.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "base/id_order.h"
#include "base/made_late.h"
#include "margin/answer.h"
#include "margin/calibrator.h"
#include "margin/digest.h"
#include "margin/uuid.h"
#include "pool/cells.h"
#include "pool/record_copy.h"

namespace margin::internal {

inline constexpr double kNoOutcome = std::numeric_limits<double>::quiet_NaN();

// One feedback request that came for a decision, whatever became of it. Kept even when reverted: that which revert finds must not depend on
// what other reverts took back, or a fold could not know beforehand what to leave out.
struct FeedbackMark {
  Uuid id;
  std::string source;
  bool reverted = false;
  std::int64_t time_ms = 0;
  bool heard = false;  // the watch has been told something of it that did not become an outcome
};

// What a source said of a response that did not become its outcome; or, without a source, that the watch has been shown enough of it.
struct Opinion {
  static constexpr std::uint32_t kNobody = 0xffffffff;
  std::uint32_t response = 0;
  std::uint32_t source = kNobody;
  double outcome = 0.0;

  [[nodiscard]] bool closes() const { return source == kNobody; }
};

// Where the outcome of a response comes from.
enum class Standing : std::uint8_t {
  kOpen,       // there is none yet
  kImplied,    // it follows from the grades of others, and was learned
  kEstimated,  // a probability given the grades of others, learned as such
  kGraded,     // somebody said so
};

struct DecisionRecord {
  struct Response {
    ModelId model = 0;
    CellId cell = 0;
    std::uint32_t answer = kNoAnswer;
    bool usable = false;   // has a confidence and did not abstain
    bool part = false;     // usable, and its model was present: calibrated, and voted when it has an answer
    bool learned = false;  // its outcome taught the calibrator
    Standing standing = Standing::kOpen;
    double confidence = 0.0;  // 0 when unusable
    double calibrated = 0.0;

    [[nodiscard]] bool graded() const { return standing == Standing::kGraded; }
    [[nodiscard]] bool votes() const { return part && answer != kNoAnswer; }
  };
  // What became of a response.
  struct Outcome {
    double value = kNoOutcome;   // as graded, or as taught by the remedy
    double weight = 1.0;         // of the grade
    std::uint32_t feedback = 0;  // which of `feedbacks` graded it; meaningless without a grade
  };

  // What comes with outcomes and audits. Apart, because most of what is held in memory waits for it.
  struct Later {
    std::vector<Outcome> outcomes;  // of the first responses; the others have none yet
    std::vector<double> audits;  // likewise: the chance with which a response was chosen to be graded although not selected; 0: it was not
    std::vector<FeedbackMark> feedbacks;
    std::vector<Opinion> opinions;
  };

  Uuid id;
  std::int64_t time_ms = 0;
  AnswerKind kind = AnswerKind::kExact;
  bool watched = false;  // the watch has been shown it
  std::uint32_t selected = kNoAnswer;
  double p_correct = 0.0;       // as promised; 0 when nothing was selected
  std::optional<double> share;  // the winner's, until the decision's outcome is known or the share has lost its meaning
  double audit_rate = 0.0;
  std::vector<Digest> answers;
  std::vector<Response> responses;
  MadeLate<Later> later;

  [[nodiscard]] bool pending() const;
  // Somebody said whether the selected answer is right.
  [[nodiscard]] bool settled() const;
  // Of one of its responses.
  [[nodiscard]] const Outcome& outcome_of(const Response& response) const;
  [[nodiscard]] double audit_of(const Response& response) const {
    const auto place = static_cast<std::size_t>(&response - responses.data());
    return place < later->audits.size() ? later->audits[place] : 0.0;
  }
  // To be set.
  [[nodiscard]] Outcome& change_outcome(const Response& response);
  void set_audit(const Response& response, double chance) {
    if (std::bit_cast<std::uint64_t>(chance) == 0) return;  // what was recorded is saved to the bit
    later.change().audits.resize(responses.size());
    later.change().audits[static_cast<std::size_t>(&response - responses.data())] = chance;
  }
  // It supports the selected answer.
  [[nodiscard]] bool supports(const Response& response) const { return selected != kNoAnswer && response.answer == selected; }
  [[nodiscard]] bool has_feedback(Uuid id) const;
  // Some response has its outcome from this feedback.
  [[nodiscard]] bool grades(std::size_t feedback) const;
  // The state would be another without this feedback: some response has its outcome from it, or the watch has heard it.
  [[nodiscard]] bool holds(std::size_t feedback) const;
};

static_assert(sizeof(DecisionRecord) <= 128, "as many as come until outcomes do are in memory");

// Of the records in a snapshot: kFixed until MPL2, kPacked from MPL3 on.
enum class RecordLayout { kFixed, kPacked };

class Decisions {
 public:
  [[nodiscard]] std::size_t size() const { return records_.size(); }
  // How many there were, those forgotten included, since this object was made.
  [[nodiscard]] std::uint64_t added() const { return first_ + records_.size(); }
  // How many wait for an outcome.
  [[nodiscard]] std::size_t pending() const { return pending_; }
  [[nodiscard]] const DecisionRecord* find(Uuid id) const;
  // For whoever changes it; nullptr: there is none.
  [[nodiscard]] DecisionRecord* change(Uuid id);
  [[nodiscard]] DecisionRecord& change(const DecisionRecord& record) { return *change(record.id); }
  void change_all(const std::function<void(DecisionRecord&)>& change);
  // The id is new and the time no earlier than the last one's.
  DecisionRecord& add(DecisionRecord&& record);
  // The last outcome that a record waited for has come.
  void completed() { --pending_; }

  // `last_look` sees each record before it is forgotten.
  using LastLook = std::function<void(DecisionRecord&)>;
  void forget_beyond(std::size_t count, const LastLook& last_look);
  void forget_before(std::int64_t time_ms, const LastLook& last_look);

  // In the order they were made.
  [[nodiscard]] auto begin() const { return records_.begin(); }
  [[nodiscard]] auto end() const { return records_.end(); }

  void save(Encoder& out) const;
  // The same bytes while the records go on changing: as they are when it begins, some records at a time. A second one takes the place of
  // the first.
  void begin_copy() { copy_.emplace(first_, first_ + records_.size()); }
  void copy_some(std::size_t records);
  // Whether a copy has begun and not been taken.
  [[nodiscard]] bool copying() const { return copy_.has_value(); }
  [[nodiscard]] bool copied() const { return copy_ && copy_->complete(); }
  [[nodiscard]] RecordCopy::Pieces take_copy();

  // Ids of models, cells and watched sources must be below these counts.
  struct Bounds {
    std::size_t models = 0;
    std::size_t cells = 0;
    std::size_t sources = 0;
  };
  void load(Decoder& in, RecordLayout layout, const Bounds& bounds);

 private:
  void forget_oldest(const LastLook& last_look);
  [[nodiscard]] DecisionRecord& to_be_changed(std::uint64_t number);

  std::deque<DecisionRecord> records_;  // oldest first
  IdOrder numbers_;                     // of the records; the oldest has first_
  std::uint64_t first_ = 0;
  std::size_t pending_ = 0;  // records whose pending() holds
  std::optional<RecordCopy> copy_;
};

}  // namespace margin::internal
