// GradedStream: the responses of a stream as the metrics over tasks ask for them. Used by the experiments.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataset/observation_log.h"
#include "experiment/replay.h"
#include "experiment/stream.h"
#include "margin/bootstrap.h"
#include "margin/selection_metric.h"

namespace margin::experiment {

class GradedStream {
 public:
  // The usable responses; calibrated is what was stated. Task t is task t of the stream.
  explicit GradedStream(const Stream& stream);
  // Also those that are unusable for want of a confidence, in their tasks; tasks with no other response come last. `stream` was made of
  // `log` with `selection`.
  GradedStream(const Stream& stream, const dataset::ObservationLog& log, const RowSelection& selection);

  // Takes over what a pass made of the confidences.
  void calibrate(const Pass& pass);

  [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
  [[nodiscard]] GradedTask task(std::size_t number) const {
    return std::span(responses_).subspan(first_[number], first_[number + 1] - first_[number]);
  }
  [[nodiscard]] std::vector<GradedTask> tasks() const;

 private:
  std::vector<GradedResponse> responses_;
  std::vector<std::uint32_t> row_;  // of the stream, by response; kNone: it has none
  std::vector<std::size_t> first_;  // response by task, and the end
};

// By task, what `outcome` makes of its responses: oracle_outcome, random_outcome and their like.
template <class Outcome>
[[nodiscard]] std::vector<std::optional<double>> by_task(const GradedStream& graded, Outcome outcome) {
  std::vector<std::optional<double>> outcomes;
  for (std::size_t task = 0; task < graded.size(); ++task) outcomes.push_back(outcome(graded.task(task)));
  return outcomes;
}

// The rows whose outcome is known, as the metrics over rows ask for them.
struct GradedRows {
  // Of one phase, or of all.
  explicit GradedRows(const Stream& stream, std::optional<std::uint32_t> phase = {});

  // Values by row of the stream, as values by graded row.
  [[nodiscard]] std::vector<double> of(std::span<const double> by_row) const;
  [[nodiscard]] TaskIndex index() const { return {tasks, task_count}; }

  std::size_t task_count;  // of the stream
  std::vector<std::uint32_t> rows, tasks;
  std::vector<double> outcomes;
};

// By task, the outcome of what the pass selected: the terms of pass@1.
[[nodiscard]] std::vector<std::optional<double>> selected_outcomes(const GradedStream& graded, const Pass& pass);

}  // namespace margin::experiment
