// Log check: what a log has and lacks before anything is calibrated, as counts with a judgement each. The first part of `margin doctor`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "experiment/stream.h"

namespace margin::experiment {

enum class Health : std::uint8_t { kOk, kWarn, kBad };

// What a check counts. The order is that of the report.
enum class Aspect : std::uint8_t {
  kConfidence,        // rows that take part, of all
  kOutcome,           // responses whose outcome is known, of those that take part
  kBothOutcomes,      // models that are sometimes right and sometimes wrong, of those with an outcome
  kOutcomesPerModel,  // models with kOutcomesEnough known outcomes
  kOutcomesPerBand,   // (model, third of the confidence scale) with kOutcomesEnough, of those that occur
  kVariation,         // models whose confidence varies
  kScale,             // responses with a confidence above kConfidenceTiny
  kAnswer,            // responses that state an answer
  kSeveralModels,     // tasks with responses of two or more models
  kDisagreement,      // tasks whose answers differ, of those with two or more answers
  kTime,              // tasks with a time
  kTimeOrder,         // tasks that are not earlier than the one before them in the file, of those with a time
};

// Below this nothing is said of a model, a band or a whole log: a percentile bootstrap of fewer is too narrow.
inline constexpr std::size_t kOutcomesEnough = 30;
inline constexpr double kConfidenceTiny = 0.02;

struct LogCheck {
  Aspect aspect = Aspect::kConfidence;
  Health health = Health::kOk;
  std::size_t count = 0, of = 0;
  std::vector<std::string> models;  // those that fall short, where the aspect counts models
};

struct LogFacts {
  std::string channel;
  std::size_t rows = 0;          // selected, usable or not
  std::size_t responses = 0;     // usable
  std::size_t outcomes = 0;      // known, of usable responses
  std::size_t tasks = 0;         // with any selected row
  std::size_t graded_tasks = 0;  // with a known outcome of a usable response
  std::size_t phases = 0;
  std::vector<std::string> models;
  std::vector<Excluded> excluded;  // by model
  std::vector<LogCheck> checks;

  // The worst of what each needs; voting needs what calibration needs, and more.
  [[nodiscard]] Health for_calibration() const;
  [[nodiscard]] Health for_voting() const;
  [[nodiscard]] const LogCheck& check(Aspect aspect) const;
};

// moments: by task of the stream, NaN where none is stated (task_moments).
[[nodiscard]] LogFacts check_log(const Stream& stream, std::span<const double> moments);

}  // namespace margin::experiment
