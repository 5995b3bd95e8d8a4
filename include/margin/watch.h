// Watch: what settled tasks say about drift and gaming, as reports. It decides nothing: no calibrator, vote or decision reads it.
// docs/watch.md has the tests behind the reports and what they promise.
//
//   margin::Watch watch;
//   const std::vector<margin::WatchedResponse> task = {{.model = 0, .answer = 0, .outcome = 1.0},
//                                                      {.model = 1, .answer = 1, .outcome = 0.0}};
//   const bool taken = watch.observe(task).ok();
//   for (const margin::WatchReport& report : watch.reports()) {
//     const std::string_view kind = margin::watch_kind_name(report.kind);
//   }
//
// A pure state machine with the same bits everywhere, not thread-safe. Memory is bounded by the options: a model costs some 500 bytes, a
// pair of models 48. A task costs time in proportion to the models, and to the pairs among those that were wrong.
#pragma once

#include <cstddef>
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

enum class WatchKind : std::uint8_t {
  kDrift,             // a model's, or the pool's, accuracy left its record
  kTrustThenDefect,   // a sharp fall after a long clean record, in which the others had no part
  kLowParticipation,  // answers far less often than the others
  kAvoidsHardTasks,   // answers less often where the others fail
  kLagExploitation,   // worse where outcomes become known late
  kCollusion,         // a pair that gives the same wrong answer far more often than others do: colluding, or copies of one model
  kSourceDisagrees,   // a source of outcomes that contradicts the others, who agree
};
// "drift", "trust_then_defect", ...
[[nodiscard]] std::string_view watch_kind_name(WatchKind kind);

struct WatchReport {
  static constexpr std::uint32_t kPool = 0xffffffff;  // a subject: everybody
  static constexpr std::uint32_t kNobody = 0xfffffffe;

  WatchKind kind = WatchKind::kDrift;
  std::uint32_t subject = kPool;   // a model; a source for kSourceDisagrees; kPool
  std::uint32_t other = kNobody;   // the second model of kCollusion
  std::uint64_t since = 0;         // the task where the evidence began; tasks, or for sources graded responses, count from 1
  std::uint64_t at = 0;            // the task that completed it
  std::uint64_t last = 0;          // the latest task that completed it again; == at after the first time
  std::uint64_t times = 1;         // how often; drift and defection are new each time
  std::uint32_t clock = 0;         // of drift: the length of the record that was left, in outcomes; else 0
  double observed = 0.0;           // mean of what was tested, since `since`
  double reference = 0.0;          // what the record, or the others, say of it
  double tolerated = 0.0;          // how far from the reference is still no evidence
  std::uint64_t observations = 0;  // since `since`
  double evidence = 0.0;           // natural logarithm of a likelihood ratio
  double threshold = 0.0;          // which it exceeded
};

struct WatchOptions {
  // For each kind: at most this many false reports per task are expected while its premise holds. In (0, 0.1].
  double false_reports_per_task = 1e-5;
  std::uint32_t models_max = 64;   // 1 .. 1024: pairs are kept, so memory grows with its square
  std::uint32_t sources_max = 32;  // 1 .. 1024
  std::size_t reports_max = 1000;  // older ones make room, counted in dropped()
};

struct WatchedResponse {
  ModelId model = 0;                                          // at most one response of a model per task
  std::uint32_t answer = kNoAnswer;                           // AnswerGroups::group
  double outcome = std::numeric_limits<double>::quiet_NaN();  // in [0, 1]; NaN: never became known
  double delay = 0.0;                                         // how late the outcome became known, in any unit, >= 0
};

// What one source said of a response.
struct SourceGrade {
  std::uint32_t source = 0;
  double outcome = 0.0;  // in [0, 1]
};

class Watch {
 public:
  // Options out of range are a broken invariant.
  explicit Watch(const WatchOptions& options = {});
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;
  ~Watch();

  // The usable responses of the next task, once its outcomes are known or known never to come. A model is a member from its first
  // response on; a member without a response stayed away. kInvalidArgument: a value out of range, or a model twice; kLimit: a model
  // beyond models_max. Then nothing has changed.
  Status observe(std::span<const WatchedResponse> responses);
  // The model is no member any more, until it responds again.
  void leave(ModelId model);
  // All that the sources said of one response. kInvalidArgument: a value out of range, or a source twice; kLimit: a source beyond
  // sources_max. Then nothing has changed.
  Status grade(std::span<const SourceGrade> grades);

  [[nodiscard]] std::uint64_t tasks() const;
  // In the order in which they were first completed.
  [[nodiscard]] const std::vector<WatchReport>& reports() const;
  [[nodiscard]] std::uint64_t dropped() const;
  [[nodiscard]] const WatchOptions& options() const;

  // Bytes that restore_watch turns into an equal watch, bit for bit. digest() is the fingerprint of those bytes.
  [[nodiscard]] std::string snapshot() const;
  [[nodiscard]] Digest digest() const { return digest_of(snapshot()); }

 private:
  friend Result<Watch> restore_watch(std::string_view bytes);
  struct State;
  std::unique_ptr<State> state_;
};

// kCorrupt: not a snapshot of a watch, or truncated.
[[nodiscard]] Result<Watch> restore_watch(std::string_view bytes);

}  // namespace margin
