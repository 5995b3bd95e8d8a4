// Paired bootstrap of differences at task level: is method a better than method b, or was it the choice of tasks?
// A task's contribution to a metric is summed once into a row (TaskRows); a resample is then a weighted sum of rows, and all resamples
// together one matrix product. Used by experiments. docs/metrics.md has the definitions.
//
//   const std::vector<std::optional<double>> ours = {1.0, 1.0, 0.0, 1.0}, theirs = {1.0, 0.0, 0.0, 1.0};  // pass@1, task by task
//   const std::vector<margin::TaskRows> our_orderings = {margin::mean_rows(ours)}, their_orderings = {margin::mean_rows(theirs)};
//   const margin::TaskResamples resamples({.tasks = 4, .seed = 7});  // once, for every method and ordering
//   margin::Difference d = margin::paired_difference(margin::resample(resamples, our_orderings),
//                                                    margin::resample(resamples, their_orderings), margin::Better::kHigher);
//
// Everything is a function of its arguments alone. Callers that want threads split methods or ranges of resamples between them
// (resample_range); the result has the same bits however it was split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "margin/metric.h"
#include "margin/selection_metric.h"

namespace margin {

// Per task the sums that a metric is made of. Its value over a set of tasks is sum over numerators of |sum over tasks|, divided by the
// sum of the denominators: ECE has a numerator per bin; a mean (Brier, log loss, pass@1, resolution) has one, which is never negative.
// Row t belongs to the same task in all methods and orderings, whatever the order of replay was.
class TaskRows {
 public:
  TaskRows(std::size_t tasks, std::size_t numerators);

  [[nodiscard]] std::size_t tasks() const { return tasks_; }
  [[nodiscard]] std::size_t numerators() const { return numerators_; }
  [[nodiscard]] double& numerator(std::size_t task, std::size_t i) { return values_[task * stride() + i]; }
  [[nodiscard]] double numerator(std::size_t task, std::size_t i) const { return values_[task * stride() + i]; }
  [[nodiscard]] double& denominator(std::size_t task) { return values_[task * stride() + numerators_]; }
  [[nodiscard]] double denominator(std::size_t task) const { return values_[task * stride() + numerators_]; }

  // Task by task, the numerators and the denominator.
  [[nodiscard]] std::span<const double> values() const { return values_; }

 private:
  [[nodiscard]] std::size_t stride() const { return numerators_ + 1; }

  std::size_t tasks_;
  std::size_t numerators_;
  std::vector<double> values_;
};

// tasks[r] < task_count is the task of row r. Sums inside a task are plain, in row order.
struct TaskIndex {
  std::span<const std::uint32_t> tasks;
  std::size_t task_count = 0;
};
[[nodiscard]] TaskRows ece_rows(Predictions rows, const TaskIndex& index, int bins = kMetricBins);
[[nodiscard]] TaskRows brier_rows(Predictions rows, const TaskIndex& index);
[[nodiscard]] TaskRows log_loss_rows(Predictions rows, const TaskIndex& index);
// A mean over tasks, such as answer_outcome() of the selected answers for pass@1; undefined ones are left out.
[[nodiscard]] TaskRows mean_rows(std::span<const std::optional<double>> outcomes);
// resolution() of each task.
[[nodiscard]] TaskRows resolution_rows(std::span<const Resolution> per_task);

// The mean of several orderings' rows. For a metric with one numerator whose denominators do not depend on the ordering, resampling the
// mean equals the mean of resampling, at a fraction of the cost. For other rows it would be another number: they stop the program.
[[nodiscard]] TaskRows mean_of_orderings(std::span<const TaskRows> orderings);

// The mean over orderings of the metric over all tasks; nullopt when it is undefined for one of them.
[[nodiscard]] std::optional<double> statistic(std::span<const TaskRows> orderings);

// How often each task occurs in each resample: resample r draws `tasks` tasks with replacement from stream r of the seed.
class TaskResamples {
 public:
  struct Options {
    std::size_t tasks = 0;
    std::size_t resamples = 10'000;
    std::uint64_t seed = 1;
  };
  // Memory: one byte per task and resample.
  explicit TaskResamples(const Options& options);

  [[nodiscard]] std::size_t tasks() const { return tasks_; }
  [[nodiscard]] std::size_t resamples() const { return resamples_; }
  [[nodiscard]] std::span<const std::uint8_t> counts(std::size_t resample) const {
    return std::span(counts_).subspan(resample * tasks_, tasks_);
  }

 private:
  std::size_t tasks_;
  std::size_t resamples_;
  std::vector<std::uint8_t> counts_;  // resamples x tasks
};

// The rows of all orderings side by side, in tiles of columns as the matrix product takes them. A column without anything in it is left
// out and one that is the same in every ordering is there once; neither changes a bit of the result.
class TaskColumns {
 public:
  // All rows are of one shape. They are copied.
  explicit TaskColumns(std::span<const TaskRows> orderings);

  [[nodiscard]] std::size_t tasks() const { return tasks_; }
  [[nodiscard]] std::size_t orderings() const { return orderings_.size(); }
  [[nodiscard]] std::size_t columns() const { return columns_; }

  // For the product: tile i holds columns kTileColumns * i and on, task by task; the last is filled up with zeros.
  static constexpr std::size_t kTileColumns = 8;
  [[nodiscard]] std::size_t tiles() const { return (columns_ + kTileColumns - 1) / kTileColumns; }
  [[nodiscard]] const double* tile(std::size_t i) const { return values_.data() + i * kTileColumns * tasks_; }
  struct Ordering {
    std::size_t first_numerator = 0;  // a column; the ordering's other numerators follow
    std::size_t numerators = 0;
    std::size_t denominator = 0;  // a column
  };
  [[nodiscard]] const Ordering& ordering(std::size_t i) const { return orderings_[i]; }

 private:
  std::size_t add_column(const TaskRows& rows, std::size_t i);

  std::size_t tasks_;
  std::size_t columns_ = 0;
  std::vector<Ordering> orderings_;
  std::vector<double> values_;
};

// A statistic per resample; nullopt where the resample leaves it undefined.
using Resampled = std::vector<std::optional<double>>;

// Per resample the mean over orderings of the metric on the resampled tasks. All rows are of one shape, with resamples.tasks() tasks.
[[nodiscard]] Resampled resample(const TaskResamples& resamples, std::span<const TaskRows> orderings);
// The part [first, first + out.size()) of it.
void resample_range(const TaskResamples& resamples, const TaskColumns& rows, std::size_t first, std::span<std::optional<double>> out);

// 95% percentile interval of the defined ones; nullopt when none is.
[[nodiscard]] std::optional<Interval> percentile_interval(const Resampled& resampled);
// Gap closed per resample, for its interval.
[[nodiscard]] Resampled gap_closed(const Resampled& ours, const Resampled& base, const Resampled& oracle);

enum class Better : std::uint8_t { kLower, kHigher };
enum class Verdict : std::uint8_t { kWin, kTie, kLoss };

struct Difference {
  std::optional<Interval> interval;  // of a - b
  double p_value = 1.0;              // two-sided, by counting resamples, and by a normal tail beyond the last; 1 when none is defined
  Verdict verdict = Verdict::kTie;   // for a: the interval lies wholly on the better (worse) side of 0
};
// a and b from the same TaskResamples.
[[nodiscard]] Difference paired_difference(const Resampled& a, const Resampled& b, Better better);

// Holm's step-down correction: adjusted[i] <= 0.05 says that comparison i remains at a 5% chance of any false claim in the whole table.
[[nodiscard]] std::vector<double> holm(std::span<const double> p_values);

}  // namespace margin
