// Stream: the usable rows of one channel of a log, arranged task by task as a replay visits them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/observation_log.h"
#include "margin/answer.h"
#include "margin/calibrator.h"
#include "margin/result.h"

namespace margin::experiment {

// Which rows take part; an empty list means all. What is not selected counts as never written.
struct RowSelection {
  std::vector<std::string> phases;
  std::vector<std::string> models;
  std::vector<std::string> channels;
  bool exclude_without_answer = false;   // a null answer makes the response unusable instead of merely mute
  AnswerKind kind = AnswerKind::kExact;  // of tasks that do not state theirs
};

// Rows of one model that take no part in anything, by reason.
struct Excluded {
  std::size_t no_confidence = 0;
  std::size_t no_answer = 0;
  std::size_t abstained = 0;

  [[nodiscard]] std::size_t total() const { return no_confidence + no_answer + abstained; }
  Excluded& operator+=(const Excluded& other);
};

// By the name programs know it, and in words.
struct ExclusionReason {
  std::string_view key;
  std::string_view words;
  std::size_t Excluded::*count;
};
inline constexpr ExclusionReason kExclusionReasons[] = {
    {"no_confidence", "no confidence", &Excluded::no_confidence},
    {"no_answer", "no answer", &Excluded::no_answer},
    {"abstained", "abstained", &Excluded::abstained},
};

struct Stream {
  struct Task {
    std::uint32_t log_task = 0;
    std::uint32_t phase = 0;    // as numbered in the log
    std::uint32_t segment = 0;  // as numbered in the log; 0 is none
    std::uint32_t first_row = 0;
    std::uint32_t rows = 0;
    std::uint32_t answers = 0;  // distinct ones
  };

  std::string channel;
  std::vector<std::string> models;  // by ModelId, in the order of their first selected row
  std::vector<Excluded> excluded;   // by ModelId
  std::size_t task_count = 0;       // with any selected row
  std::size_t ungraded = 0;         // usable rows whose outcome is not known: predicted, neither learned nor scored

  // Tasks with a usable row, in the order of their first selected row.
  std::vector<Task> tasks;
  // Usable rows: those of a task stand together, in file order.
  std::vector<ModelId> model;
  std::vector<double> confidence;
  std::vector<double> outcome;  // NaN: not known
  std::vector<double> weight;
  std::vector<std::uint32_t> answer;  // group within the task, or kNoAnswer
  std::vector<std::uint32_t> log_row;

  [[nodiscard]] std::size_t rows() const { return model.size(); }
  [[nodiscard]] Excluded excluded_total() const;
};

// One stream per selected channel that has rows, in the order of appearance. kNotFound: a selected phase, model or channel that no row
// has, or a selection that leaves nothing.
[[nodiscard]] Result<std::vector<Stream>> make_streams(const dataset::ObservationLog& log, const RowSelection& selection = {});

// The graded rows of `source` as observations of the models of `target`, to fit on; models that `target` lacks are left out.
[[nodiscard]] std::vector<Observation> calibration_rows(const Stream& source, const Stream& target);

}  // namespace margin::experiment
