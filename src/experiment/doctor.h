// Doctor: would calibration and voting help on this log, is that known, how soon, and does it change? What `margin doctor` computes;
// doctor_report.h says it in words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/contrast.h"
#include "experiment/log_check.h"
#include "experiment/passes.h"
#include "experiment/shift.h"
#include "margin/metric.h"

namespace margin::experiment {

struct DoctorOptions {
  PassesOptions passes;            // file order, once, is what would have happened live
  double effect = 0.02;            // the smallest difference of ECE or pass@1 worth having
  std::size_t settle_passes = 50;  // shuffled passes that say how soon calibration settles
};

// Confidence against accuracy over some rows whose outcome is known; all 0 and undefined without rows.
struct Gap {
  std::size_t rows = 0;
  double confidence = 0.0, accuracy = 0.0;  // means
  Measured gap;                             // confidence - accuracy: positive is overconfidence
};
struct Level {
  std::string name;
  Gap stated, calibrated;  // over the same rows
};

// One method against stated confidence. Brier and log loss are smaller for better probabilities and for nothing else; ECE is what people
// ask for. Help is claimed when ECE and Brier agree.
struct CalibrationFindings {
  std::string method;
  double effect = 0.02;
  Contrast ece, brier, log_loss;  // calibrated - stated

  [[nodiscard]] Answer answer() const;
};

// The responses of one decile of stated confidence, the fullest: how often they are right, and what they are calibrated to.
struct Headline {
  std::size_t rows = 0;
  double stated = 0.0, accuracy = 0.0, calibrated = 0.0;
};

// The calibrated vote of the first method against every alternative, over the tasks where both are defined; pass@1.
struct VotingFindings {
  std::string method;
  Measured vote;
  Contrast over_raw_vote, over_random;
  std::string best_single_model, committed_model;  // empty: no task is common to all models
  Contrast over_best_single;                       // the best in hindsight, which nobody knows beforehand
  Contrast over_committed;                         // the best of the first half, judged on the second
  Measured oracle;

  // Against the committed model where that can be judged, else the best in hindsight; beating the latter is enough.
  [[nodiscard]] Answer answer() const;
};

// ECE of the first method by how many outcomes of its model it has learned, tasks in random order whatever their phase.
struct Settling {
  struct Stage {
    std::size_t outcomes = 0;  // at least so many, and fewer than the next stage
    std::size_t rows = 0;      // over all passes
    double ece = 0.0;
  };
  static constexpr double kTolerance = 0.02;
  std::vector<Stage> stages;  // the last is the long run; empty: too few outcomes
  // From this stage on ECE stays within kTolerance of the long run.
  std::optional<std::size_t> settled_at;
};

// Overconfidence early and late: the first half of the tasks and the second.
struct Change {
  std::string name;
  Gap early, late;                             // of stated confidence
  std::optional<report::Estimate> difference;  // late - early; nullopt: nothing to compare
  double p_value = 1.0;
  bool changed = false;  // after Holm's correction over the models; for all together the 95% interval
};

struct Diagnosis {
  LogFacts facts;
  double effect = 0.02;
  std::optional<Headline> headline;                // nullopt: nothing is graded
  std::vector<CalibrationFindings> calibration;    // by method, without raw; the first is the one that words speak of
  std::vector<ReliabilityBin> stated, calibrated;  // of the first pass
  std::vector<Level> models, phases;
  std::optional<VotingFindings> voting;  // nullopt: no answers, or no task with two models
  Settling settling;
  bool by_time = false;  // halves are of time, otherwise of the file
  Change overall;
  std::vector<Change> changes;  // by model

  [[nodiscard]] Answer calibration_answer() const;
  [[nodiscard]] Answer voting_answer() const { return voting ? voting->answer() : Answer::kNotThere; }
};

// The first entrant is raw, the second the one that words speak of. What the stream does not say of its log comes with it: `moments` by
// task (task_moments() of split.h) and the names of the log's phases by number. nullopt when stopped.
struct LogSides {
  std::vector<double> moments;
  std::vector<std::string> phases;
};
[[nodiscard]] std::optional<Diagnosis> run_doctor(const Stream& stream, const LogSides& sides, std::span<const Entrant> entrants,
                                                  const Vote& vote, const DoctorOptions& options, Progress* progress = nullptr);
[[nodiscard]] std::size_t doctor_work(const Stream& stream, std::size_t entrants, const DoctorOptions& options);

// A part of run_doctor, for one method; nullopt when stopped.
[[nodiscard]] std::optional<Settling> measure_settling(const Stream& stream, const Calibrator& method, const Vote& vote,
                                                       const DoctorOptions& options, Progress* progress = nullptr);

}  // namespace margin::experiment
