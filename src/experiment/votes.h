// Votes: which way to count selects the better answer after a change of work, and how well the decision's own probability holds. What
// `margin experiment votes` computes. With every outcome at once calibrated confidences do not depend on the vote, and all votes share the
// passes of a method; else each vote has its own, since what it selects decides what is learned.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/decisions.h"
#include "experiment/estimate_cells.h"
#include "experiment/shift.h"

namespace margin::experiment {

struct VoteEntrant {
  std::string label;
  std::unique_ptr<Vote> vote;  // fresh
};

struct VotesOptions {
  std::uint32_t orderings = 100;
  std::uint64_t seed = 1;
  std::size_t resamples = 10'000;
  Threads threads;
  double max_error = 0.1;  // promised: what is less sure is not answered
  // Which outcomes arrive, and when. Its boundary is the shift: the source has full feedback.
  PassOptions pass;

  [[nodiscard]] bool every_outcome_at_once() const { return pass.lag == 0 && pass.feedback == Feedback::kFull; }
};

struct VoteResult {
  std::string label;
  Measured pass1;
  Measured first;  // pass@1 of the first kFirstTasks of the source, from nothing; over resamples of the source's tasks
  // pass@1 of the tasks kSettled to 2 kSettled of the target, minus that of a vote started at the target; nullopt: the target is too short,
  // or not every outcome comes at once.
  std::optional<double> kept_pace;
  DecisionScores decision;  // of the target, the mean over orderings
  Measured realised;        // its realised error
};
inline constexpr std::size_t kFirstTasks = 50;
inline constexpr std::size_t kSettled = 200;

// One model by itself, and the votes on the tasks that it answered.
struct SingleResult {
  Measured pass1;
  std::vector<Measured> votes;
};

struct VotesResult {
  std::string name;
  std::vector<VoteResult> votes;
  std::optional<SingleResult> committed;  // the model that was best on the source
  std::optional<SingleResult> hindsight;  // the one best on the target
};

// Method and votes learn on the source and go on. nullopt when stopped through `progress`.
[[nodiscard]] std::optional<VotesResult> run_votes(const Condition& condition, const Calibrator& method, std::span<const VoteEntrant> votes,
                                                   const VotesOptions& options, Progress* progress = nullptr);

// All conditions of one pool size and method.
class VotesGroup {
 public:
  VotesGroup(std::string name, std::string focus) : name_(std::move(name)), focus_(std::move(focus)) {}

  void add(const VotesResult& result);

  struct Line {
    std::string label;
    std::size_t conditions = 0;
    double pass1 = 0.0;
    std::optional<report::Estimate> difference;  // focus - this one
    double first = 0.0;
    std::optional<report::Estimate> first_difference;  // focus - this one; only of votes
    double kept_pace = 0.0, kept_pace_worst = 0.0;
    std::size_t paced = 0;                                                            // conditions long enough for kept_pace
    double ece = 0.0, debiased = 0.0, in_band = 0.0, answered = 0.0, promised = 0.0;  // of the decisions' own probability
    Measured realised;
  };
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t conditions() const { return conditions_; }
  // The votes, then committed and hindsight where known. Means over conditions, which weigh alike; errors weigh by decisions answered.
  [[nodiscard]] std::vector<Line> lines() const;
  // The focus against every other vote and the committed best single; Holm's correction over all of them.
  [[nodiscard]] ComparisonTable comparisons() const { return tabulate(comparisons_); }

 private:
  struct Entry {
    Line sums;
    // Sums over conditions, resample by resample; of the focus, on the tasks that count for this one.
    std::vector<double> resampled, focus_resampled, first_resampled, realised;
    double focus_pass1 = 0.0, answered = 0.0;
  };
  Entry& entry(const std::string& label);

  std::string name_;
  std::string focus_;
  std::size_t conditions_ = 0;
  std::vector<Entry> entries_;
  std::vector<Comparison> comparisons_;
};

}  // namespace margin::experiment
