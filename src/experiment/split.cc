#include "experiment/split.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/graded.h"
#include "margin/metric.h"

namespace margin::experiment {
namespace {

constexpr std::size_t kHalves = 2;  // early, late

// What one metric made of one part in every pass.
struct Collected {
  explicit Collected(std::size_t passes) : values(passes), rows(passes, TaskRows(0, 1)) {}
  [[nodiscard]] Measured measured(const Resampling& resampling) const { return {spread_of(values).mean, resampling.of(rows)}; }

  std::vector<std::optional<double>> values;
  std::vector<TaskRows> rows;
};

}  // namespace

std::vector<double> task_moments(const Stream& stream, const dataset::ObservationLog& log) {
  std::vector<double> moments;
  for (const Stream::Task& task : stream.tasks) {
    double moment = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
      moment = std::fmin(moment, log.t(stream.log_row[row]));
    }
    moments.push_back(moment);
  }
  return moments;
}

Result<SplitStream> split_stream(const Stream& stream, const dataset::ObservationLog& log, std::optional<double> at) {
  std::vector<double> moments;
  SplitStream split{.stream = stream};
  std::vector<std::pair<double, Stream::Task>> timed;
  const std::vector<double> all = task_moments(stream, log);
  for (std::size_t number = 0; number < all.size(); ++number) {
    if (std::isnan(all[number])) {
      ++split.without_t;
      continue;
    }
    timed.emplace_back(all[number], stream.tasks[number]);
    moments.push_back(all[number]);
  }
  if (timed.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "no usable row of the log states when it was: expected the field t, a date or seconds since 1970"};
  }
  std::sort(moments.begin(), moments.end());
  split.cut = at.value_or(moments[moments.size() / 2]);
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  split.stream.tasks.clear();
  for (auto& [moment, task] : timed) {
    task.phase = moment < split.cut ? 0 : 1;
    if (task.phase == 0) ++split.early;
    split.stream.tasks.push_back(task);
  }
  if (split.early == 0 || split.early == timed.size()) {
    return Error{ErrorCode::kInvalidArgument, split.early == 0 ? "no task is before the cut: choose a later --at"
                                                               : "no task is at or after the cut: choose an earlier --at"};
  }
  return split;
}

std::size_t split_work(std::size_t entrants, std::size_t models, const PassesOptions& options) {
  constexpr std::size_t kMetricsOfMethod = 3;
  return pieces_of({.passes = entrants, .statistics = kHalves * (models + kMetricsOfMethod * entrants)}, options);
}

std::optional<SplitResult> run_split(const SplitStream& split, std::span<const Entrant> entrants, const Vote& vote,
                                     const PassesOptions& options, Progress* progress) {
  const Stream& stream = split.stream;
  const GradedStream graded(stream);
  const Resampling resampling(stream.tasks.size(), options, progress);
  SplitResult result{.channel = stream.channel,
                     .cut = split.cut,
                     .early = split.early,
                     .late = stream.tasks.size() - split.early,
                     .without_t = split.without_t};
  // A mean over tasks of one part: the others are left out.
  const auto of_part = [&](std::vector<std::optional<double>> outcomes, std::uint32_t part) {
    for (std::size_t task = 0; task < outcomes.size(); ++task) {
      if (stream.tasks[task].phase != part) outcomes[task].reset();
    }
    return outcomes;
  };

  for (ModelId model = 0; model < stream.models.size(); ++model) {
    std::vector<std::optional<double>> outcomes;
    for (std::size_t task = 0; task < graded.size(); ++task) outcomes.push_back(model_outcome(graded.task(task), model));
    SplitModel one{.name = stream.models[model]};
    const auto measure = [&](std::uint32_t part, std::size_t& rows, Measured& accuracy) {
      const auto of_this = of_part(outcomes, part);
      const TaskMean mean = mean_over_tasks(of_this);
      rows = mean.tasks;
      accuracy = {mean.value, resampling.of(of_this)};
    };
    measure(0, one.early_rows, one.accuracy.early);
    measure(1, one.late_rows, one.accuracy.late);
    result.models.push_back(std::move(one));
  }

  const GradedRows parts[kHalves] = {GradedRows(stream, 0), GradedRows(stream, 1)};
  for (const Entrant& entrant : entrants) {
    std::vector<Collected> ece_of(kHalves, Collected(options.passes())), brier_of = ece_of, pass1_of = ece_of;
    const bool finished = for_each_pass(stream, *entrant.method, vote, options, progress, [&](std::size_t number, const Pass& pass) {
      const auto selected = selected_outcomes(graded, pass);
      for (std::uint32_t part = 0; part < kHalves; ++part) {
        const std::vector<double> probabilities = parts[part].of(pass.calibrated);
        const Predictions rows{probabilities, parts[part].outcomes};
        const TaskIndex index = parts[part].index();
        ece_of[part].values[number] = ece(rows);
        ece_of[part].rows[number] = ece_rows(rows, index);
        brier_of[part].values[number] = brier(rows);
        brier_of[part].rows[number] = brier_rows(rows, index);
        const auto of_this = of_part(selected, part);
        pass1_of[part].values[number] = mean_over_tasks(of_this).value;
        pass1_of[part].rows[number] = mean_rows(of_this);
      }
    });
    if (!finished) return std::nullopt;
    const auto early_late = [&](const std::vector<Collected>& collected) {
      return EarlyLate{collected[0].measured(resampling), collected[1].measured(resampling)};
    };
    result.methods.push_back({entrant.label, early_late(ece_of), early_late(brier_of), early_late(pass1_of)});
  }
  if (progress != nullptr && progress->stop) return std::nullopt;
  return result;
}

}  // namespace margin::experiment
