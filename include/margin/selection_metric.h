// Metrics over tasks that several models answered: how good is what was selected, how good could it have been, and does confidence
// tell the better of two models. docs/metrics.md has every formula. Used by replays and experiments.
//
// Pure functions; what is undefined is nullopt. Means over tasks are exact sums, so the order of the tasks does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "margin/answer.h"
#include "margin/calibrator.h"
#include "margin/result.h"

namespace margin {

// One response of a task with all that a metric asks of it. A model responds at most once to a task.
struct GradedResponse {
  ModelId model = 0;
  std::uint32_t answer = kNoAnswer;  // group among the task's answers
  std::optional<double> stated;      // none: unusable; only resolution looks at such a response, when told to count it half
  double calibrated = 0.0;           // in [0, 1]; meaningful when usable
  std::optional<double> outcome;     // in [0, 1]; none: never graded, so never scored

  [[nodiscard]] bool scored() const { return stated.has_value() && outcome.has_value(); }
};

using GradedTask = std::span<const GradedResponse>;

// Per task, over its scored responses; nullopt when there is none.
// The outcome of an answer is the largest among the models that gave it. kNoAnswer has none.
[[nodiscard]] std::optional<double> answer_outcome(GradedTask task, std::uint32_t answer);
// The best outcome any model reached: what a perfect selection would get.
[[nodiscard]] std::optional<double> oracle_outcome(GradedTask task);
// The mean outcome: what a model picked at random would get.
[[nodiscard]] std::optional<double> random_outcome(GradedTask task);
[[nodiscard]] std::optional<double> model_outcome(GradedTask task, ModelId model);

// A mean over the tasks where it is defined.
struct TaskMean {
  std::optional<double> value;  // nullopt when tasks == 0
  std::size_t tasks = 0;
};
[[nodiscard]] TaskMean mean_over_tasks(std::span<const std::optional<double>> outcomes);

// selected[t] is the answer that was chosen in task t, kNoAnswer when nothing voted: such a task is left out.
[[nodiscard]] TaskMean pass_at_1(std::span<const GradedTask> tasks, std::span<const std::uint32_t> selected);
[[nodiscard]] TaskMean oracle(std::span<const GradedTask> tasks);
[[nodiscard]] TaskMean random_pick(std::span<const GradedTask> tasks);
// One model throughout, over the tasks it has a scored response to. With the model of best_single() on other tasks: committed best single.
[[nodiscard]] TaskMean single(std::span<const GradedTask> tasks, ModelId model);

struct BestSingle {
  ModelId model = 0;
  double outcome = 0.0;          // mean over the common tasks
  std::size_t common_tasks = 0;  // those with a scored response of every model that has any
};
// The model with the best mean over the common tasks; of equals the one whose name sorts first. names[model] for every model that occurs.
// nullopt when no task is common to all.
[[nodiscard]] std::optional<BestSingle> best_single(std::span<const GradedTask> tasks, std::span<const std::string> names);

struct GapClosed {
  double ours = 0.0;
  double base = 0.0;
  double oracle = 0.0;
  // (ours - base) / (oracle - base): 0 no better than the base, 1 perfect, negative worse; nullopt when the base is perfect already.
  [[nodiscard]] std::optional<double> value() const;
};

// Pairwise resolution.
enum class ContestRule : std::uint8_t {
  kPassed,   // pairs whose outcomes differ
  kAnswers,  // pairs whose answers differ, at least one of them right (o >= 0.5)
};
enum class TieRule : std::uint8_t {
  kHalf,    // equal confidence counts half
  kStrict,  // is left out
  kRaw,     // is decided by the stated confidence, and left out when that is equal too
};
enum class MissingRule : std::uint8_t {
  kLeftOut,  // a pair with a missing confidence is no contest
  kHalf,     // counts half
};
// "passed", "answers"; "half", "strict", "raw"; "leave", "half". kInvalidArgument for anything else.
[[nodiscard]] Result<ContestRule> parse_contest_rule(std::string_view name);
[[nodiscard]] Result<TieRule> parse_tie_rule(std::string_view name);
[[nodiscard]] Result<MissingRule> parse_missing_rule(std::string_view name);

struct ResolutionRules {
  ContestRule contest = ContestRule::kPassed;
  TieRule tie = TieRule::kHalf;
  MissingRule missing = MissingRule::kLeftOut;
};

// Counts over pairs of graded responses of one task.
struct Resolution {
  double points = 0.0;         // contests that confidence decided rightly; halves as the rules say
  std::size_t contests = 0;    // that counted
  std::size_t ties = 0;        // contests of equal confidence, counted half or left out (with kRaw: equal in both confidences)
  std::size_t missing = 0;     // contests with a missing confidence, counted half or left out
  std::size_t both_right = 0;  // pairs of equal outcome, o >= 0.5; with kAnswers those with different answers are contests as well
  std::size_t both_wrong = 0;  // pairs of equal outcome, o < 0.5; with kAnswers all pairs with neither right

  // points / contests.
  [[nodiscard]] std::optional<double> value() const;
  Resolution& operator+=(const Resolution& other);
};

[[nodiscard]] Resolution resolution(GradedTask task, const ResolutionRules& rules = {});
[[nodiscard]] Resolution resolution(std::span<const GradedTask> tasks, const ResolutionRules& rules = {});

}  // namespace margin
