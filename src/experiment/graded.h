// GradedStream: the responses of a stream as the metrics over tasks ask for them. Used by the experiments.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataset/observation_log.h"
#include "experiment/replay.h"
#include "experiment/stream.h"
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

// By task, the outcome of what the pass selected: the terms of pass@1.
[[nodiscard]] std::vector<std::optional<double>> selected_outcomes(const GradedStream& graded, const Pass& pass);

}  // namespace margin::experiment
