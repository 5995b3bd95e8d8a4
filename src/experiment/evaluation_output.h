// How evaluations are shown: tables for people, JSON for programs, and the predictions and decisions themselves, one line each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dataset/observation_log.h"
#include "experiment/evaluation.h"

namespace margin::experiment {

// How the evaluations were made, for their heading.
struct EvaluationSetting {
  EvaluationOptions options;
  std::string vote;
};

// Tables, one per channel; percentages. Every text of the log is made printable.
[[nodiscard]] std::string to_table(std::span<const Evaluation> evaluations, const EvaluationSetting& setting);

// {"observations","excluded","tasks","models","methods":{ID:{metric: fraction or null}}} and what explains it; with several channels
// {"channels":{NAME: that}}.
[[nodiscard]] std::string to_json(std::span<const Evaluation> evaluations, const EvaluationSetting& setting);

// {"task","model","method","confidence","calibrated","correct"} per usable row and method, rows in file order; with several channels
// "channel" as well. Only of evaluations in file order.
[[nodiscard]] std::string prediction_lines(const dataset::ObservationLog& log, std::span<const Evaluation> evaluations);

// {"task","method","selected","share","correct"} per task with a usable row and method, tasks in replay order; with several phases or
// channels "phase" or "channel" as well. "selected" is the answer as its most confident supporter wrote it, null when nothing voted.
[[nodiscard]] std::string decision_lines(const dataset::ObservationLog& log, std::span<const Evaluation> evaluations);

}  // namespace margin::experiment
