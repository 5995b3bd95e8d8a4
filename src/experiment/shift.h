// Shift: methods that learned on a source meet a target. What `margin experiment shift` and most other experiments are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/parallel.h"
#include "experiment/replay.h"
#include "experiment/score.h"
#include "experiment/stream.h"
#include "margin/bootstrap.h"
#include "margin/calibrator.h"
#include "margin/result.h"
#include "margin/vote.h"

namespace margin::experiment {

// What happens to online methods between source and target. Design-time methods are fitted on a random half of the source and frozen.
enum class Boundary : std::uint8_t {
  kTold,     // margin and margin_adaptive go on and know of no boundary; every other online method starts fresh: it is told of the shift
  kCarry,    // all go on
  kReset,    // all start fresh
  kRestart,  // as told, but margin's counts return to 0 while its estimates stay
};
// "told", "carry", "reset", "restart". kInvalidArgument for anything else.
[[nodiscard]] Result<Boundary> parse_boundary(std::string_view name);

// Source and target as one stream: source tasks first, then the target's.
struct Condition {
  std::string name;
  Stream stream;
  std::uint32_t source_tasks = 0;
  std::uint32_t source_rows = 0;
  Stream target;  // the second part alone, as it is scored; same model ids
};
// The models of both, by name. Source and target may be of different logs, or the same.
// Its tasks in the order of pass number `ordering`: source, then target, each shuffled.
[[nodiscard]] std::vector<std::uint32_t> shuffled(const Condition& condition, std::uint64_t seed, std::uint64_t ordering);

[[nodiscard]] Condition make_condition(std::string name, const Stream& source, const Stream& target);

struct Entrant {
  std::string label;
  std::unique_ptr<Calibrator> method;  // fresh
};

struct ShiftOptions {
  Boundary boundary = Boundary::kTold;
  std::uint32_t orderings = 100;
  std::uint64_t seed = 1;
  PassOptions pass;  // lag and feedback; the boundary is set by the experiment
  std::size_t resamples = 10'000;
  Threads threads;
};

struct EntrantResult {
  std::string label;
  std::vector<Scores> by_ordering;
  ScoreSummary scores;
  // Per resample of the target's tasks, the mean over orderings; empty without resamples.
  Resampled ece, brier, log_loss, pass1;
};

struct ConditionResult {
  std::string name;
  std::size_t tasks = 0;  // of the target
  std::size_t rows = 0;
  std::vector<EntrantResult> entrants;
};

// What a fresh method makes of the target in ordering number `ordering`: one of the passes that run_shift scores. Indexed as the target is.
[[nodiscard]] Pass target_pass(const Condition& condition, const Calibrator& method, const Vote& vote, const ShiftOptions& options,
                               std::size_t ordering);

// All entrants see the same orderings and the same resamples. nullopt when stopped through `progress`.
[[nodiscard]] std::optional<ConditionResult> run_shift(const Condition& condition, std::span<const Entrant> entrants, const Vote& vote,
                                                       const ShiftOptions& options, Progress* progress = nullptr);
// The pieces of work of one run_shift, for Progress::total.
[[nodiscard]] std::size_t shift_work(std::size_t entrants, const ShiftOptions& options);

// How one entrant does against another, over conditions.
struct Record {
  std::string rival;
  std::size_t wins = 0, ties = 0, losses = 0;
  std::size_t losses_after_holm = 0, wins_after_holm = 0;  // over the whole table
};
enum class Compared : std::uint8_t { kEce, kBrier, kLogLoss };
inline constexpr Compared kCompared[] = {Compared::kEce, Compared::kBrier, Compared::kLogLoss};
// Mean over orderings; 0 where nothing is graded.
[[nodiscard]] double mean_of(const EntrantResult& entrant, Compared metric);
[[nodiscard]] const Resampled& resampled_of(const EntrantResult& entrant, Compared metric);

struct Comparison {
  std::string condition;
  std::string rival;
  double mean = 0.0;  // ours - rival's
  Difference difference;
  double holm_p = 1.0;
};
struct ComparisonTable {
  std::vector<Comparison> comparisons;
  std::vector<Record> records;  // by rival, in the order of the entrants
};
// `focus` against every other entrant, before any correction. kNotFound: no such entrant.
[[nodiscard]] Result<std::vector<Comparison>> compare(const ConditionResult& condition, std::string_view focus, Compared metric);
// Holm's correction over all of them together, and who beats whom how often.
[[nodiscard]] ComparisonTable tabulate(std::vector<Comparison> comparisons);
[[nodiscard]] Result<ComparisonTable> compare(std::span<const ConditionResult> conditions, std::string_view focus, Compared metric);

}  // namespace margin::experiment
