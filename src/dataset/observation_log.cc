#include "dataset/observation_log.h"

#include <algorithm>
#include <cmath>

#include "dataset/text.h"

namespace margin::dataset {
namespace {

Error refusal(std::string_view field, std::string_view value, std::string_view expected) {
  return {ErrorCode::kInvalidArgument, std::string(field) + ": got " + std::string(value) + ", expected " + std::string(expected)};
}

std::string in_quotes(std::string_view text) { return '"' + printable(text) + '"'; }

bool is_probability_or_missing(double x) { return std::isnan(x) || (x >= 0.0 && x <= 1.0); }

Status check(const Row& row) {
  if (row.task.empty()) return refusal("task", "\"\"", "a name");
  if (row.model.empty()) return refusal("model", "\"\"", "a name");
  if (row.model.front() == '@')
    return refusal("model", in_quotes(row.model), "a name that does not begin with @ (such names are reserved)");
  if (row.channel.empty()) return refusal("channel", "\"\"", "a name");
  if (!is_probability_or_missing(row.confidence)) {
    const bool percent = row.confidence > 1.0 && row.confidence <= 100.0;
    return refusal("confidence", json_number(row.confidence),
                   percent ? "a number in [0, 1] or null (for percentages: --scale 100)" : "a number in [0, 1] or null");
  }
  if (!is_probability_or_missing(row.correct))
    return refusal("correct", json_number(row.correct), "a number in [0, 1], true, false or null");
  if (!(row.weight > 0.0 && row.weight <= 1.0)) return refusal("weight", json_number(row.weight), "a number in (0, 1]");
  return {};
}

}  // namespace

void ObservationLog::begin_file(std::string name) { files_.push_back({std::move(name), rows()}); }

Status ObservationLog::append(const Row& row, std::uint32_t line) {
  if (Status status = check(row); !status) return status;
  if (rows() >= kNone) return {ErrorCode::kLimit, "more than " + std::to_string(kNone) + " rows"};

  const std::uint32_t model = models_.intern(row.model);
  if (model >= kModelsMax) return {ErrorCode::kLimit, "model: more than " + std::to_string(kModelsMax) + " different models"};
  const std::uint32_t channel = channels_.intern(row.channel);
  if (channel >= kChannelsMax) return {ErrorCode::kLimit, "channel: more than " + std::to_string(kChannelsMax) + " different channels"};
  const std::uint32_t task = find_task(row.phase, row.task);
  if (Status status = settle_task(tasks_[task], row); !status) return status;

  task_.push_back(task);
  model_.push_back(model);
  answer_.push_back(row.answer ? answers_.intern(*row.answer) : kNone);
  line_.push_back(line);
  confidence_.push_back(row.confidence + 0.0);  // -0 becomes 0
  correct_.push_back(row.correct + 0.0);
  weight_.push_back(row.weight);
  t_.push_back(row.t);
  channel_.push_back(static_cast<std::uint8_t>(channel));
  abstained_.push_back(row.abstained ? 1 : 0);
  return {};
}

std::uint32_t ObservationLog::find_task(std::string_view phase, std::string_view name) {
  if (last_task_ != kNone && tasks_[last_task_].name == name && phases_[tasks_[last_task_].phase] == phase) return last_task_;
  const std::uint32_t phase_number = phases_.intern(phase);
  if (phase_number == task_numbers_.size()) task_numbers_.emplace_back();
  const auto [entry, added] = task_numbers_[phase_number].try_emplace(std::string(name), static_cast<std::uint32_t>(tasks_.size()));
  if (added) tasks_.push_back({.name = entry->first, .phase = phase_number, .segment = 0, .kind = std::nullopt});
  return last_task_ = entry->second;
}

// Segment and kind belong to the task: rows may leave them out, but those that state them must agree.
Status ObservationLog::settle_task(Task& task, const Row& row) {
  if (!row.segment.empty()) {
    const std::uint32_t segment = segments_.intern(row.segment);
    if (segment > kSegmentsMax) return {ErrorCode::kLimit, "segment: more than " + std::to_string(kSegmentsMax) + " different segments"};
    if (task.segment == 0) task.segment = segment;
    if (task.segment != segment) {
      return refusal("segment", in_quotes(row.segment), in_quotes(segments_[task.segment]) + ", the segment of this task's other rows");
    }
  }
  if (row.kind) {
    if (!task.kind) task.kind = row.kind;
    if (task.kind != row.kind) {
      return refusal("kind", in_quotes(name_of(*row.kind)), in_quotes(name_of(*task.kind)) + ", the kind of this task's other rows");
    }
  }
  return {};
}

Status ObservationLog::check_duplicates() const {
  // Rows by task, in file order, by counting; then one look per row at who last answered this task.
  std::vector<std::size_t> begin(tasks_.size() + 1, 0);
  for (const std::uint32_t task : task_) ++begin[task + std::size_t{1}];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<std::uint32_t> by_task(rows());
  for (std::size_t row = 0; row < rows(); ++row) by_task[begin[task_[row]]++] = static_cast<std::uint32_t>(row);

  std::vector<std::uint32_t> last(std::size_t{models_.size()} * channels_.size(), kNone);
  std::uint32_t second = kNone;  // the duplicate that comes first in the files
  std::uint32_t first = kNone;
  for (const std::uint32_t row : by_task) {
    std::uint32_t& seen = last[std::size_t{model_[row]} * channels_.size() + channel_[row]];
    if (seen != kNone && task_[seen] == task_[row] && row < second) {
      first = seen;
      second = row;
    }
    seen = row;
  }
  if (second == kNone) return {};
  return {ErrorCode::kConflict, place(second) + ": model: got a second response of " + in_quotes(models_[model_[second]]) + " to task " +
                                    in_quotes(tasks_[task_[second]].name) + " in channel " + in_quotes(channels_[channel_[second]]) +
                                    ", expected one (the first is at " + place(first) + ")"};
}

std::string ObservationLog::place(std::size_t row) const {
  const auto next = std::upper_bound(files_.begin(), files_.end(), row, [](std::size_t r, const File& file) { return r < file.first_row; });
  return (next == files_.begin() ? "row " : printable(std::prev(next)->name, 400) + ":") + std::to_string(line_[row]);
}

}  // namespace margin::dataset
