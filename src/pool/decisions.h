// Decisions: what a pool remembers of the decisions it made, until they expire, so that outcomes find them and a second outcome is
// recognised. Texts are not kept.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "margin/answer.h"
#include "margin/calibrator.h"
#include "margin/digest.h"
#include "margin/uuid.h"
#include "pool/cells.h"

namespace margin::internal {

inline constexpr double kNoOutcome = std::numeric_limits<double>::quiet_NaN();

// One feedback request that came for a decision, whatever became of it. Kept even when reverted: that which revert finds must not depend on
// what other reverts took back, or a fold could not know beforehand what to leave out.
struct FeedbackMark {
  Uuid id;
  std::string source;
  bool reverted = false;
};

struct DecisionRecord {
  struct Response {
    ModelId model = 0;
    CellId cell = 0;
    std::uint32_t answer = kNoAnswer;
    bool usable = false;      // has a confidence and did not abstain
    bool part = false;        // usable, and its model was present: calibrated, and voted when it has an answer
    bool learned = false;     // its outcome taught the calibrator
    double confidence = 0.0;  // 0 when unusable
    double calibrated = 0.0;
    double outcome = kNoOutcome;
    double weight = 1.0;         // of the outcome
    std::uint32_t feedback = 0;  // which of `feedbacks` gave the outcome; meaningless without one

    [[nodiscard]] bool graded() const { return outcome == outcome; }
    [[nodiscard]] bool votes() const { return part && answer != kNoAnswer; }
  };

  Uuid id;
  std::int64_t time_ms = 0;
  AnswerKind kind = AnswerKind::kExact;
  std::uint32_t selected = kNoAnswer;
  double p_correct = 0.0;       // as promised; 0 when nothing was selected
  std::optional<double> share;  // the winner's, until the decision's outcome is known or the share has lost its meaning
  std::vector<Digest> answers;
  std::vector<Response> responses;
  std::vector<FeedbackMark> feedbacks;

  [[nodiscard]] bool pending() const;
  [[nodiscard]] bool has_feedback(Uuid id) const;
  // Some response has its outcome from this feedback.
  [[nodiscard]] bool graded_by(std::size_t feedback) const;
};

class Decisions {
 public:
  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] const DecisionRecord* find(Uuid id) const;
  [[nodiscard]] DecisionRecord* find(Uuid id);
  // The id is new and the time no earlier than the last one's.
  DecisionRecord& add(DecisionRecord record);

  void forget_beyond(std::size_t count);
  void forget_before(std::int64_t time_ms);

  // In the order they were made.
  [[nodiscard]] auto begin() const { return records_.begin(); }
  [[nodiscard]] auto end() const { return records_.end(); }
  [[nodiscard]] auto begin() { return records_.begin(); }
  [[nodiscard]] auto end() { return records_.end(); }

  void save(Encoder& out) const;
  // Ids of models and cells must be below these counts.
  struct Bounds {
    std::size_t models = 0;
    std::size_t cells = 0;
  };
  void load(Decoder& in, const Bounds& bounds);

 private:
  void forget_oldest();

  std::deque<DecisionRecord> records_;     // oldest first
  std::map<Uuid, std::uint64_t> numbers_;  // a record's number; the oldest has first_
  std::uint64_t first_ = 0;
};

}  // namespace margin::internal
