// Remedy: what a task teaches when only some of its outcomes arrive, as a rule those of the selected answer's supporters. Learned alone
// they flatter every model, because an answer is selected when it is likely right. A remedy says what the other responses of the task
// teach. docs/feedback.md has the formulas and what each remedy costs and brings.
//
//   auto remedy = margin::make_remedy("implied");
//   std::vector<margin::TaskResponse> task = {{.model = 0, .confidence = 0.9, .selected = true, .outcome = 1.0},
//                                             {.model = 1, .confidence = 0.8}};  // not selected, outcome not known
//   std::vector<margin::Lesson> lessons;
//   remedy.value().learn(task, lessons);  // lessons[1]: outcome 0, implied
//
// Like a calibrator a remedy is a pure state machine with the same bits everywhere; one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "margin/answer.h"
#include "margin/calibrator.h"
#include "margin/digest.h"
#include "margin/result.h"

namespace margin {

namespace internal {
class Rightness;
}  // namespace internal

enum class RemedyKind : std::uint8_t {
  kNone,       // what arrived is learned, nothing else
  kWeighted,   // as none, but what arrived is weighted by the inverse of its propensity
  kImplied,    // tasks with one right answer: a right selection proves every other answer wrong; after a wrong one, the others' usual rate
  kEstimated,  // tasks with many right answers: the chance of each response, estimated from audits and from whether the selection was right
};
// "none", "weighted", "implied", "estimated".
inline constexpr std::array<std::string_view, 4> kRemedyNames = {"none", "weighted", "implied", "estimated"};

// Whether, among different answers to a task of this kind, at most one is right, so that kImplied may be used. Programs and free text may
// differ and all be right.
[[nodiscard]] constexpr bool one_right_answer(AnswerKind kind) { return kind != AnswerKind::kCode && kind != AnswerKind::kText; }

// One usable response of a decided task.
struct TaskResponse {
  ModelId model = 0;
  double confidence = 0.0;                                    // as stated, in [0, 1]
  bool selected = false;                                      // it supports the selected answer
  double outcome = std::numeric_limits<double>::quiet_NaN();  // in [0, 1]; NaN: will never be known
  double weight = 1.0;                                        // of the feedback, in (0, 1]
  // The chance with which its outcome was to become known: 1 for supporters and under complete feedback, the audit's for the others; 0: it
  // came by itself and is no sample of anything.
  double propensity = 1.0;
};

// What a response teaches a calibrator.
struct Lesson {
  enum class Origin : std::uint8_t {
    kKnown,      // it arrived
    kImplied,    // it follows with certainty from what arrived
    kEstimated,  // a probability
    kNothing,    // nothing
  };
  double outcome = std::numeric_limits<double>::quiet_NaN();
  double weight = 1.0;
  Origin origin = Origin::kNothing;
};

class Remedy {
 public:
  explicit Remedy(RemedyKind kind = RemedyKind::kNone);
  ~Remedy();
  Remedy(Remedy&&) noexcept;
  Remedy& operator=(Remedy&&) noexcept;

  [[nodiscard]] RemedyKind kind() const { return kind_; }

  // The outcomes of one task that arrived, all at once: learns from them what the others are worth, then fills one lesson per response, in
  // their order. The selection counts as right when the largest known outcome of its supporters is at least 1/2. When that is not known
  // only what arrived is learned. A value out of range stops the program.
  void learn(std::span<const TaskResponse> task, std::vector<Lesson>& lessons);

  // Bytes that restore_remedy turns into an equal remedy, bit for bit. digest() is the fingerprint of those bytes.
  [[nodiscard]] std::string snapshot() const;
  [[nodiscard]] Digest digest() const { return digest_of(snapshot()); }

 private:
  friend Result<Remedy> restore_remedy(std::string_view bytes);
  static void weigh(std::span<const TaskResponse> task, std::vector<Lesson>& lessons);
  void imply(std::span<const TaskResponse> task, std::vector<Lesson>& lessons);
  void estimate(std::span<const TaskResponse> task, std::vector<Lesson>& lessons);

  RemedyKind kind_;
  // Implied: decayed count of responses that disagreed with a wrong selection, and how many of them were right.
  double right_ = 0.0;
  double seen_ = 0.0;
  std::unique_ptr<internal::Rightness> rightness_;  // estimated
};

// kNotFound: no such remedy; the message suggests the nearest.
[[nodiscard]] Result<Remedy> make_remedy(std::string_view name);
// kCorrupt: not a snapshot, truncated, or a state no remedy can reach.
[[nodiscard]] Result<Remedy> restore_remedy(std::string_view bytes);

}  // namespace margin
