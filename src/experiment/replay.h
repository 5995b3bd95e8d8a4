// Replay: one prequential pass of a calibrator and a vote over a stream. Every response of a task is calibrated with the state before
// the task; then outcomes are learned, in row order. docs/cli.md describes it for users.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "experiment/stream.h"
#include "margin/audit.h"
#include "margin/calibrator.h"
#include "margin/remedy.h"
#include "margin/vote.h"

namespace margin::experiment {

// What a pass said, before it knew. Indexed as the stream is, whatever the order of the pass.
struct Pass {
  struct Selection {
    std::uint32_t answer = kNoAnswer;  // group within the task; kNoAnswer when nothing voted
    std::uint32_t row = 0;             // the winner's leading response
    double share = 0.0;                // as Tally says
  };
  std::vector<double> calibrated;         // by row
  std::vector<Selection> selections;      // by task
  std::unique_ptr<const Calibrator> end;  // the state without segment as the pass left it
};

// Which outcomes a pass learns.
enum class Feedback : std::uint8_t {
  kFull,      // every response's
  kSelected,  // those of the selected answer's supporters, and of the audited
  kNone,      // none: what was learned before stays as it is
};

struct PassOptions {
  // Outcomes come this many usable rows late: row r is learned before the task whose first row is s once r < s - lag. Rows that never
  // come due are never learned.
  std::size_t lag = 0;
  // A position in the order: tasks before it have full feedback, and counts may restart at it (Calibrator::restart_counts).
  std::size_t boundary = 0;
  Feedback feedback = Feedback::kFull;  // from the boundary on
  bool restart_counts = false;
  // Where outcomes are missing. With a remedy a task is learned as a whole, once its last row is due.
  RemedyKind remedy = RemedyKind::kNone;
  AuditPlan audits;  // of responses beside the selected answer; the task's number in the stream names it
};

// `order` visits tasks of the stream, each at most once. `calibrator` and `vote` are the states to start from and stay as they are.
// Each segment has a copy of its own; a model enters a segment from the state without segment. A vote learns a task when the last of
// its rows is learned; a task without any known outcome teaches nothing.
[[nodiscard]] Pass replay(const Stream& stream, std::span<const std::uint32_t> order, const Calibrator& calibrator, const Vote& vote,
                          const PassOptions& options = {});

}  // namespace margin::experiment
