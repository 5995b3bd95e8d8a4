#include "experiment/stream.h"

#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "base/suggest.h"
#include "dataset/text.h"

namespace margin::experiment {
namespace {

using dataset::Names;
using dataset::ObservationLog;

// By number of `known`: is it selected?
Result<std::vector<bool>> chosen(std::string_view what, const std::vector<std::string>& wanted, const Names& known) {
  std::vector<bool> mask(known.size(), wanted.empty());
  for (const std::string& name : wanted) {
    const std::optional<std::uint32_t> number = known.find(name);
    if (!number) {
      std::vector<std::string> names;
      for (std::uint32_t i = 0; i < known.size() && i < 20; ++i) names.push_back(dataset::printable(known[i]));
      return Error{ErrorCode::kNotFound,
                   std::string(what) + ": no row has " + dataset::printable(name) + internal::suggestion(name, names)};
    }
    mask[*number] = true;
  }
  return mask;
}

// Collects the rows of one channel.
class StreamBuilder {
 public:
  StreamBuilder(const ObservationLog& log, const RowSelection& selection, std::string channel)
      : log_(log),
        selection_(selection),
        model_of_(log.models().size(), ObservationLog::kNone),
        task_of_(log.tasks().size(), ObservationLog::kNone) {
    stream_.channel = std::move(channel);
  }

  void add(std::uint32_t row) {
    std::uint32_t& model = model_of_[log_.model(row)];
    if (model == ObservationLog::kNone) {
      model = static_cast<std::uint32_t>(stream_.models.size());
      stream_.models.push_back(log_.models()[log_.model(row)]);
      stream_.excluded.emplace_back();
    }
    std::uint32_t& task = task_of_[log_.task(row)];
    if (task == ObservationLog::kNone) task = static_cast<std::uint32_t>(stream_.task_count++);
    if (usable(row, stream_.excluded[model])) rows_.push_back(row);
  }

  [[nodiscard]] bool empty() const { return stream_.models.empty(); }

  Stream finish() {
    const std::vector<std::uint32_t> rows = rows_by_task();
    for (auto* column : {&stream_.confidence, &stream_.outcome, &stream_.weight}) column->reserve(rows.size());
    for (auto* column : {&stream_.model, &stream_.answer, &stream_.log_row}) column->reserve(rows.size());
    for (std::size_t first = 0; first < rows.size();) {
      std::size_t end = first;
      while (end < rows.size() && log_.task(rows[end]) == log_.task(rows[first])) ++end;
      append_task(std::span(rows).subspan(first, end - first));
      first = end;
    }
    return std::move(stream_);
  }

 private:
  bool usable(std::uint32_t row, Excluded& excluded) const {
    if (log_.abstained(row)) return ++excluded.abstained, false;
    if (std::isnan(log_.confidence(row))) return ++excluded.no_confidence, false;
    if (selection_.exclude_without_answer && log_.answer(row) == ObservationLog::kNone) return ++excluded.no_answer, false;
    return true;
  }

  // The usable rows, those of a task together and in file order: by counting.
  [[nodiscard]] std::vector<std::uint32_t> rows_by_task() const {
    std::vector<std::size_t> place(stream_.task_count + 1, 0);
    for (const std::uint32_t row : rows_) ++place[task_of_[log_.task(row)] + std::size_t{1}];
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<std::uint32_t> sorted(rows_.size());
    for (const std::uint32_t row : rows_) sorted[place[task_of_[log_.task(row)]]++] = row;
    return sorted;
  }

  void append_task(std::span<const std::uint32_t> rows) {
    const std::uint32_t log_task = log_.task(rows.front());
    const ObservationLog::Task& task = log_.tasks()[log_task];
    std::vector<std::optional<std::string_view>> answers;
    for (const std::uint32_t row : rows) {
      const std::uint32_t answer = log_.answer(row);
      answers.push_back(answer == ObservationLog::kNone ? std::nullopt : std::optional<std::string_view>(log_.answers()[answer]));
    }
    const AnswerGroups groups = group_answers(task.kind.value_or(selection_.kind), answers);

    stream_.tasks.push_back({.log_task = log_task,
                             .phase = task.phase,
                             .segment = task.segment,
                             .first_row = static_cast<std::uint32_t>(stream_.rows()),
                             .rows = static_cast<std::uint32_t>(rows.size()),
                             .answers = static_cast<std::uint32_t>(groups.canonical.size())});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint32_t row = rows[i];
      stream_.model.push_back(model_of_[log_.model(row)]);
      stream_.confidence.push_back(log_.confidence(row));
      stream_.outcome.push_back(log_.correct(row));
      stream_.weight.push_back(log_.weight(row));
      stream_.answer.push_back(groups.group[i]);
      stream_.log_row.push_back(row);
      if (std::isnan(log_.correct(row))) ++stream_.ungraded;
    }
  }

  const ObservationLog& log_;
  const RowSelection& selection_;
  std::vector<std::uint32_t> model_of_;  // log's number to the stream's
  std::vector<std::uint32_t> task_of_;
  std::vector<std::uint32_t> rows_;  // usable, in file order
  Stream stream_;
};

}  // namespace

Excluded& Excluded::operator+=(const Excluded& other) {
  no_confidence += other.no_confidence;
  no_answer += other.no_answer;
  abstained += other.abstained;
  return *this;
}

Excluded Stream::excluded_total() const {
  Excluded total;
  for (const Excluded& one : excluded) total += one;
  return total;
}

Result<std::vector<Stream>> make_streams(const ObservationLog& log, const RowSelection& selection) {
  const Result<std::vector<bool>> phases = chosen("phase", selection.phases, log.phases());
  if (!phases) return phases.error();
  const Result<std::vector<bool>> models = chosen("model", selection.models, log.models());
  if (!models) return models.error();
  const Result<std::vector<bool>> channels = chosen("channel", selection.channels, log.channels());
  if (!channels) return channels.error();

  std::vector<StreamBuilder> builders;
  for (std::uint32_t channel = 0; channel < log.channels().size(); ++channel)
    builders.emplace_back(log, selection, log.channels()[channel]);
  for (std::uint32_t row = 0; row < log.rows(); ++row) {
    const std::uint32_t channel = log.channel(row);
    if ((*channels)[channel] && (*models)[log.model(row)] && (*phases)[log.tasks()[log.task(row)].phase]) builders[channel].add(row);
  }
  std::vector<Stream> streams;
  for (StreamBuilder& builder : builders) {
    if (!builder.empty()) streams.push_back(builder.finish());
  }
  if (streams.empty()) return Error{ErrorCode::kNotFound, "no row is of the selected phases, models and channels together"};
  return streams;
}

std::vector<Observation> calibration_rows(const Stream& source, const Stream& target) {
  std::map<std::string_view, ModelId> known;
  for (ModelId model = 0; model < target.models.size(); ++model) known.emplace(target.models[model], model);
  std::vector<Observation> rows;
  for (std::size_t row = 0; row < source.rows(); ++row) {
    const auto found = known.find(source.models[source.model[row]]);
    if (found == known.end() || std::isnan(source.outcome[row])) continue;
    rows.push_back(
        {.model = found->second, .confidence = source.confidence[row], .outcome = source.outcome[row], .weight = source.weight[row]});
  }
  return rows;
}

}  // namespace margin::experiment
