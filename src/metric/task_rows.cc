// The per-task sums that the bootstrap weighs.
#include <cmath>

#include "base/check.h"
#include "margin/bootstrap.h"
#include "metric/log_loss.h"
#include "metric/rows.h"

namespace margin {
namespace {

void check_index(Predictions rows, const TaskIndex& index) {
  internal::check_rows(rows);
  MARGIN_CHECK(index.tasks.size() == rows.size(), "every row has a task");
  for (const std::uint32_t task : index.tasks) MARGIN_CHECK(task < index.task_count, "a row's task is below task_count");
}

template <class Loss>
TaskRows loss_rows(Predictions rows, const TaskIndex& index, Loss loss) {
  check_index(rows, index);
  TaskRows sums(index.task_count, 1);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    sums.numerator(index.tasks[r], 0) += loss(rows.probabilities[r], rows.outcomes[r]);
    sums.denominator(index.tasks[r]) += 1.0;
  }
  return sums;
}

std::optional<double> statistic_of(const TaskRows& rows) {
  double total = 0.0;
  for (std::size_t i = 0; i < rows.numerators(); ++i) {
    double sum = 0.0;
    for (std::size_t t = 0; t < rows.tasks(); ++t) sum += rows.numerator(t, i);
    total += std::fabs(sum);
  }
  double denominator = 0.0;
  for (std::size_t t = 0; t < rows.tasks(); ++t) denominator += rows.denominator(t);
  if (denominator == 0.0) return std::nullopt;
  return total / denominator;
}

}  // namespace

TaskRows::TaskRows(std::size_t tasks, std::size_t numerators) : tasks_(tasks), numerators_(numerators) {
  MARGIN_CHECK(numerators >= 1, "a metric has at least one numerator");
  values_.resize(tasks * stride());
}

TaskRows ece_rows(Predictions rows, const TaskIndex& index, int bins) {
  check_index(rows, index);
  internal::check_bins(bins);
  TaskRows sums(index.task_count, static_cast<std::size_t>(bins));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto bin = static_cast<std::size_t>(band_of(rows.probabilities[r], bins));
    sums.numerator(index.tasks[r], bin) += rows.outcomes[r] - rows.probabilities[r];
    sums.denominator(index.tasks[r]) += 1.0;
  }
  return sums;
}

TaskRows brier_rows(Predictions rows, const TaskIndex& index) {
  return loss_rows(rows, index, [](double p, double o) { return (p - o) * (p - o); });
}

TaskRows log_loss_rows(Predictions rows, const TaskIndex& index) { return loss_rows(rows, index, internal::log_loss_of); }

TaskRows mean_rows(std::span<const std::optional<double>> outcomes) {
  TaskRows sums(outcomes.size(), 1);
  for (std::size_t t = 0; t < outcomes.size(); ++t) {
    if (!outcomes[t]) continue;
    sums.numerator(t, 0) = *outcomes[t];
    sums.denominator(t) = 1.0;
  }
  return sums;
}

TaskRows resolution_rows(std::span<const Resolution> per_task) {
  TaskRows sums(per_task.size(), 1);
  for (std::size_t t = 0; t < per_task.size(); ++t) {
    sums.numerator(t, 0) = per_task[t].points;
    sums.denominator(t) = static_cast<double>(per_task[t].contests);
  }
  return sums;
}

TaskRows mean_of_orderings(std::span<const TaskRows> orderings) {
  MARGIN_CHECK(!orderings.empty(), "a mean needs at least one ordering");
  TaskRows mean(orderings[0].tasks(), 1);
  for (const TaskRows& rows : orderings) {
    MARGIN_CHECK(rows.tasks() == mean.tasks() && rows.numerators() == 1, "only a metric with one numerator is linear in its rows");
    for (std::size_t t = 0; t < rows.tasks(); ++t) {
      MARGIN_CHECK(rows.denominator(t) == orderings[0].denominator(t), "denominators do not depend on the ordering");
      mean.numerator(t, 0) += rows.numerator(t, 0);
    }
  }
  for (std::size_t t = 0; t < mean.tasks(); ++t) {
    mean.numerator(t, 0) /= static_cast<double>(orderings.size());
    mean.denominator(t) = orderings[0].denominator(t);
  }
  return mean;
}

std::optional<double> statistic(std::span<const TaskRows> orderings) {
  if (orderings.empty()) return std::nullopt;
  double sum = 0.0;
  for (const TaskRows& rows : orderings) {
    const std::optional<double> value = statistic_of(rows);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(orderings.size());
}

}  // namespace margin
