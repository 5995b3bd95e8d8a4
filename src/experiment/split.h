// Split: a stream cut at a moment, early tasks against late ones. What `margin experiment split` computes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataset/observation_log.h"
#include "experiment/estimate_cells.h"
#include "experiment/passes.h"
#include "experiment/shift.h"
#include "margin/result.h"

namespace margin::experiment {

// By task the earliest `t` of its usable rows; NaN: none states one.
[[nodiscard]] std::vector<double> task_moments(const Stream& stream, const dataset::ObservationLog& log);

// A stream whose tasks stand in the order of time; a task's phase is 0 when it is early, 1 when it is late, so that orderings shuffle
// within the parts.
struct SplitStream {
  Stream stream;
  double cut = 0.0;           // early: before it
  std::size_t early = 0;      // tasks
  std::size_t without_t = 0;  // tasks that do not state `t` and are left out
};
// Without `at` the cut is the median moment: as many tasks before it as not,
// or one fewer. kInvalidArgument: no row states `t`, or one part is empty.
[[nodiscard]] Result<SplitStream> split_stream(const Stream& stream, const dataset::ObservationLog& log, std::optional<double> at);

// Something early and late, and early minus late.
struct EarlyLate {
  Measured early, late;
  [[nodiscard]] std::optional<report::Estimate> difference() const { return difference_of(early, late); }
};

struct SplitModel {
  std::string name;
  std::size_t early_rows = 0, late_rows = 0;  // graded
  EarlyLate accuracy;
};
struct SplitMethod {
  std::string label;
  EarlyLate ece, brier, pass1;
};
struct SplitResult {
  std::string channel;
  double cut = 0.0;
  std::size_t early = 0, late = 0, without_t = 0;  // tasks
  std::vector<SplitModel> models;
  std::vector<SplitMethod> methods;
};

// Methods learn through the early tasks into the late ones. nullopt when stopped.
[[nodiscard]] std::optional<SplitResult> run_split(const SplitStream& split, std::span<const Entrant> entrants, const Vote& vote,
                                                   const PassesOptions& options, Progress* progress = nullptr);
[[nodiscard]] std::size_t split_work(std::size_t entrants, std::size_t models, const PassesOptions& options);

}  // namespace margin::experiment
