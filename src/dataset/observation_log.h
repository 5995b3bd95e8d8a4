// ObservationLog: every response of one or many files as columns in memory, checked on the way in. Readers fill it, replays and
// experiments read it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/names.h"
#include "margin/answer.h"
#include "margin/calibrator.h"
#include "margin/result.h"

namespace margin::dataset {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// One line of a file. Texts are borrowed for the call.
struct Row {
  std::string_view task;
  std::string_view phase;
  std::string_view model;
  std::string_view channel = "verbalized";
  std::string_view segment;                // empty: none
  std::optional<AnswerKind> kind;          // none: not stated
  std::optional<std::string_view> answer;  // none: the response is calibrated and does not vote
  double confidence = kMissing;            // in [0, 1]; NaN: missing, the response is unusable
  double correct = kMissing;               // in [0, 1]; NaN: not known
  double weight = 1.0;                     // in (0, 1]
  double t = kMissing;                     // seconds since 1970; NaN: not stated
  bool abstained = false;
};

class ObservationLog {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::uint32_t kChannelsMax = 64;
  static constexpr std::uint32_t kSegmentsMax = 1000;

  // The rows of one (phase, task), wherever they stand; numbered in the order of their first row.
  struct Task {
    std::string name;
    std::uint32_t phase = 0;
    std::uint32_t segment = 0;       // of segments(); 0 is "", no segment
    std::optional<AnswerKind> kind;  // none: no row states it
  };

  ObservationLog() { segments_.intern(""); }

  // Rows that follow come from this file; the name is for messages.
  void begin_file(std::string name);
  // kInvalidArgument: a value out of range or a contradiction within the task, named with field, value and expectation; kLimit: too many
  // models, channels or segments. A refused row changes no row that is there.
  Status append(const Row& row, std::uint32_t line);
  // kConflict: a model has two responses to one task in one channel; the message names both places. To be asked once, after the last row.
  [[nodiscard]] Status check_duplicates() const;

  [[nodiscard]] std::size_t rows() const { return task_.size(); }
  [[nodiscard]] std::uint32_t task(std::size_t row) const { return task_[row]; }
  [[nodiscard]] ModelId model(std::size_t row) const { return model_[row]; }
  [[nodiscard]] std::uint32_t channel(std::size_t row) const { return channel_[row]; }
  [[nodiscard]] double confidence(std::size_t row) const { return confidence_[row]; }
  [[nodiscard]] double correct(std::size_t row) const { return correct_[row]; }
  [[nodiscard]] double weight(std::size_t row) const { return weight_[row]; }
  [[nodiscard]] double t(std::size_t row) const { return t_[row]; }
  [[nodiscard]] bool abstained(std::size_t row) const { return abstained_[row] != 0; }
  // kNone: no answer.
  [[nodiscard]] std::uint32_t answer(std::size_t row) const { return answer_[row]; }
  // "FILE:LINE" of a row.
  [[nodiscard]] std::string place(std::size_t row) const;

  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }
  [[nodiscard]] const Names& models() const { return models_; }
  [[nodiscard]] const Names& phases() const { return phases_; }
  [[nodiscard]] const Names& channels() const { return channels_; }
  [[nodiscard]] const Names& segments() const { return segments_; }
  [[nodiscard]] const Names& answers() const { return answers_; }

 private:
  struct File {
    std::string name;
    std::size_t first_row = 0;
  };

  std::uint32_t find_task(std::string_view phase, std::string_view name);
  Status settle_task(Task& task, const Row& row);

  std::vector<std::uint32_t> task_, model_, answer_, line_;
  std::vector<double> confidence_, correct_, weight_, t_;
  std::vector<std::uint8_t> channel_, abstained_;

  std::vector<Task> tasks_;
  Names models_, phases_, channels_, segments_, answers_;
  std::vector<std::unordered_map<std::string, std::uint32_t>> task_numbers_;  // by phase
  std::vector<File> files_;
  std::uint32_t last_task_ = kNone;  // rows of one task mostly stand together
};

}  // namespace margin::dataset
