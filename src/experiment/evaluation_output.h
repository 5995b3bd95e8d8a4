// How evaluations leave for programs: one JSON object, and the predictions and decisions themselves, one line each.
#pragma once

#include <span>
#include <string>

#include "dataset/observation_log.h"
#include "experiment/evaluation.h"
#include "experiment/passes_report.h"

namespace margin::experiment {

// {"observations","excluded","tasks","models","methods":{ID:{metric: fraction or null}}} and what explains it; with breakdowns
// "by":{"model":{NAME:{"observations","accuracy","methods"}}}; with several channels {"channels":{NAME: that}}.
[[nodiscard]] std::string to_json(std::span<const Evaluation> evaluations, const PassesSetting& setting);

// {"task","model","method","confidence","calibrated","correct"} per usable row and method, rows in file order; with several channels
// "channel" as well. Of the first pass, which must be in file order.
[[nodiscard]] std::string prediction_lines(const dataset::ObservationLog& log, std::span<const Evaluation> evaluations);

// {"task","method","selected","share","correct"} per task with a usable row and method, tasks in replay order; with several phases or
// channels "phase" or "channel" as well. "selected" is the answer as its most confident supporter wrote it, null when nothing voted.
[[nodiscard]] std::string decision_lines(const dataset::ObservationLog& log, std::span<const Evaluation> evaluations);

}  // namespace margin::experiment
