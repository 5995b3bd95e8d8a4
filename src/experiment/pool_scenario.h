// Pool scenarios: what happens to calibration when models leave, join late or take turns. What `margin experiment pool` computes.
// A scenario plays over the graded rows of the models present, in shuffled order of the tasks: every response is calibrated with the
// state before its task, then the task is learned. A change of the pool in the middle of a task cuts the task in two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/parallel.h"
#include "experiment/score.h"
#include "experiment/shift.h"
#include "experiment/stream.h"
#include "margin/calibrator.h"
#include "margin/result.h"
#include "report/estimate.h"

namespace margin::experiment {

enum class Scenario : std::uint8_t {
  kDropout,    // the two models with most rows leave at half time
  kColdStart,  // the first models alone until half time, then the rest join
  kRolling,    // all but the last two; regularly the model with the worst recent ECE makes room for the one longest outside
};
inline constexpr std::array<std::string_view, 3> kScenarioNames = {"dropout", "cold_start", "rolling"};
// kNotFound suggests the nearest.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view name);

struct PoolOptions {
  std::uint32_t orderings = 50;
  std::uint64_t seed = 1;
  std::size_t observations = 1000;                             // half time is after half of them
  std::size_t window = 50;                                     // observations per ECE
  std::size_t initial = 4;                                     // cold start: the models that come first in the log
  std::vector<std::size_t> checkpoints = {50, 100, 150, 200};  // cold start: observations of newcomers
  std::size_t swap_every = 200;                                // rolling
  Threads threads;
};

struct Measure {
  std::string name;
  std::vector<Scores> by_ordering;  // undefined where an ordering did not reach it
  [[nodiscard]] Spread of(Metric metric) const;
};
// a - b, both measured in the same orderings: the mean over them, and 1.96 standard errors to each side. An interval over orderings tells a
// difference from the luck of the order, in this log; nullopt where either is undefined in all.
[[nodiscard]] std::optional<report::Estimate> difference_of(const Measure& a, const Measure& b, Metric metric);

struct Trajectory {
  std::string label;
  std::vector<Spread> windows;    // ECE of observations [i * window, (i + 1) * window), over the orderings that reached it
  std::vector<Measure> measures;  // what the scenario asks for
  std::size_t cut_short = 0;      // orderings in which the log ended before the scenario did
};

struct PoolEvent {
  std::size_t at = 0;  // before this observation
  std::string what;
};

struct PoolResult {
  Scenario scenario = Scenario::kDropout;
  std::vector<PoolEvent> events;
  std::vector<std::string> subjects;  // models that leave (dropout), are there first (cold start), begin outside (rolling)
  std::vector<Trajectory> trajectories;
};

// kInvalidArgument: too few models, or a log that ends before the first event. nullopt when stopped through `progress`.
[[nodiscard]] Result<std::optional<PoolResult>> run_pool(const Stream& stream, Scenario scenario, std::span<const Entrant> entrants,
                                                         const PoolOptions& options, Progress* progress = nullptr);

// What a cold start compares: `blended` shrinks toward the pool and newcomers enter from it, `unblended` has band factors alone and
// newcomers begin at 1. Everything else as in `margin`, the parameters of such a calibrator.
[[nodiscard]] std::vector<Entrant> cold_start_arms(const Parameters& margin);

}  // namespace margin::experiment
