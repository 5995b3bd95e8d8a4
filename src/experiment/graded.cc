#include "experiment/graded.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace margin::experiment {
namespace {

using dataset::ObservationLog;

std::optional<double> known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

GradedResponse response_of(const Stream& stream, std::size_t row) {
  return {.model = stream.model[row],
          .answer = stream.answer[row],
          .stated = stream.confidence[row],
          .calibrated = stream.confidence[row],
          .outcome = known(stream.outcome[row])};
}

// By task of the log, the selected rows of the stream's channel that state no confidence, in file order.
std::map<std::uint32_t, std::vector<std::uint32_t>> rows_without_confidence(const Stream& stream, const ObservationLog& log,
                                                                            const RowSelection& selection) {
  const auto selected = [](const std::vector<std::string>& wanted, const std::string& name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  std::map<std::uint32_t, std::vector<std::uint32_t>> rows;
  for (std::uint32_t row = 0; row < log.rows(); ++row) {
    if (!std::isnan(log.confidence(row)) || log.abstained(row) || log.channels()[log.channel(row)] != stream.channel) continue;
    const std::string& phase = log.phases()[log.tasks()[log.task(row)].phase];
    if (selected(selection.phases, phase) && selected(selection.models, log.models()[log.model(row)])) rows[log.task(row)].push_back(row);
  }
  return rows;
}

}  // namespace

GradedStream::GradedStream(const Stream& stream) {
  for (const Stream::Task& task : stream.tasks) {
    first_.push_back(responses_.size());
    for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      responses_.push_back(response_of(stream, row));
      row_.push_back(row);
    }
  }
  first_.push_back(responses_.size());
}

GradedStream::GradedStream(const Stream& stream, const ObservationLog& log, const RowSelection& selection) {
  auto missing = rows_without_confidence(stream, log, selection);
  std::map<std::string_view, ModelId> ids;
  for (ModelId model = 0; model < stream.models.size(); ++model) ids.emplace(stream.models[model], model);

  // Answers are grouped anew where responses join the task: an answer may be equal to theirs alone.
  const auto finish_task = [&](std::uint32_t log_task) {
    const std::size_t usable_end = responses_.size();
    for (const std::uint32_t row : missing[log_task]) {
      responses_.push_back({.model = ids.at(log.models()[log.model(row)]), .outcome = known(log.correct(row))});
      row_.push_back(ObservationLog::kNone);
    }
    std::vector<std::optional<std::string_view>> answers;
    const auto add_answer = [&](std::uint32_t log_row) {
      const std::uint32_t answer = log.answer(log_row);
      answers.push_back(answer == ObservationLog::kNone ? std::nullopt : std::optional<std::string_view>(log.answers()[answer]));
    };
    for (std::size_t i = first_.back(); i < usable_end; ++i) add_answer(stream.log_row[row_[i]]);
    for (const std::uint32_t row : missing[log_task]) add_answer(row);
    const AnswerGroups groups = group_answers(log.tasks()[log_task].kind.value_or(selection.kind), answers);
    for (std::size_t i = 0; i < answers.size(); ++i) responses_[first_.back() + i].answer = groups.group[i];
    missing.erase(log_task);
  };
  for (const Stream::Task& task : stream.tasks) {
    first_.push_back(responses_.size());
    for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      responses_.push_back(response_of(stream, row));
      row_.push_back(row);
    }
    if (missing.contains(task.log_task)) finish_task(task.log_task);
  }
  while (!missing.empty()) {
    first_.push_back(responses_.size());
    finish_task(missing.begin()->first);
  }
  first_.push_back(responses_.size());
}

void GradedStream::calibrate(const Pass& pass) {
  for (std::size_t i = 0; i < responses_.size(); ++i) {
    if (row_[i] != ObservationLog::kNone) responses_[i].calibrated = pass.calibrated[row_[i]];
  }
}

std::vector<GradedTask> GradedStream::tasks() const {
  std::vector<GradedTask> tasks;
  for (std::size_t number = 0; number < size(); ++number) tasks.push_back(task(number));
  return tasks;
}

GradedRows::GradedRows(const Stream& stream, std::optional<std::uint32_t> phase) : task_count(stream.tasks.size()) {
  for (std::uint32_t number = 0; number < stream.tasks.size(); ++number) {
    const Stream::Task& task = stream.tasks[number];
    if (phase && task.phase != *phase) continue;
    for (std::uint32_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      if (std::isnan(stream.outcome[row])) continue;
      rows.push_back(row);
      tasks.push_back(number);
      outcomes.push_back(stream.outcome[row]);
    }
  }
}

std::vector<double> GradedRows::of(std::span<const double> by_row) const {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const std::uint32_t row : rows) values.push_back(by_row[row]);
  return values;
}

std::vector<std::optional<double>> selected_outcomes(const GradedStream& graded, const Pass& pass) {
  std::vector<std::optional<double>> outcomes;
  for (std::size_t task = 0; task < pass.selections.size(); ++task) {
    outcomes.push_back(answer_outcome(graded.task(task), pass.selections[task].answer));
  }
  return outcomes;
}

}  // namespace margin::experiment
