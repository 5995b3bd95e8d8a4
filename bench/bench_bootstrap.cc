// The bootstrap of a shift experiment beside a plain matrix product of its shape: resamples x tasks times tasks x (orderings x bins + 1).
// With --grid instead: the eleven published shifts with all methods, and where the time goes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/paper_cohort.h"
#include "dataset/simulate.h"
#include "experiment/ordering.h"
#include "experiment/replay.h"
#include "experiment/shift.h"
#include "margin/bootstrap.h"
#include "ratio_report.h"

namespace margin {
namespace {

constexpr std::uint32_t kOrderings = 100;
constexpr std::size_t kResamples = 240;  // of 10,000: the cost of one does not depend on their number

const dataset::ObservationLog& paper_log() {
  static const dataset::Simulation kSimulation = std::move(dataset::simulate("paper")).value();
  return kSimulation.log;
}

experiment::Stream phase_of(std::string_view phase, bool local_models) {
  experiment::RowSelection selection{.phases = {std::string(phase)}};
  if (!local_models) {
    for (const std::string_view model : dataset::paper_cloud_models()) selection.models.emplace_back(model);
  }
  return std::move(experiment::make_streams(paper_log(), selection)).value().front();
}

// What a method leaves to be resampled: per ordering, the ECE rows of the phase.
struct Work {
  explicit Work(std::string_view phase) : stream(phase_of(phase, false)) {
    const auto method = std::move(make_calibrator("margin")).value();
    const auto vote = std::move(make_vote("sum")).value();
    std::vector<std::uint32_t> task_of(stream.rows());
    for (std::uint32_t task = 0; task < stream.tasks.size(); ++task) {
      std::fill_n(task_of.begin() + stream.tasks[task].first_row, stream.tasks[task].rows, task);
    }
    for (std::uint32_t ordering = 0; ordering < kOrderings; ++ordering) {
      const experiment::Pass pass = replay(stream, experiment::shuffled_order(stream, 1, ordering), *method, *vote);
      rows.push_back(ece_rows({pass.calibrated, stream.outcome}, {task_of, stream.tasks.size()}));
    }
  }
  [[nodiscard]] std::size_t tasks() const { return stream.tasks.size(); }
  [[nodiscard]] std::size_t columns() const { return rows.size() * kMetricBins + 1; }
  [[nodiscard]] std::int64_t multiply_adds() const { return static_cast<std::int64_t>(kResamples * tasks() * columns()); }

  experiment::Stream stream;
  std::vector<TaskRows> rows;
};

const Work& work(std::string_view phase) {
  static const Work kSmall("BCB");
  static const Work kLarge("LCB");
  return phase == "BCB" ? kSmall : kLarge;
}

// Both factors and the product, row by row, as doubles.
struct Matrices {
  explicit Matrices(const Work& of) : counts(kResamples * of.tasks()), rows(of.tasks() * of.columns()), sums(kResamples * of.columns()) {
    const TaskResamples resamples({.tasks = of.tasks(), .resamples = kResamples});
    for (std::size_t r = 0; r < kResamples; ++r)
      std::ranges::copy(resamples.counts(r), counts.begin() + static_cast<std::ptrdiff_t>(r * of.tasks()));
    for (std::size_t t = 0; t < of.tasks(); ++t) {
      double* row = rows.data() + t * of.columns();
      for (std::size_t i = 0; i + 1 < of.columns(); ++i) row[i] = of.rows[i / kMetricBins].numerator(t, i % kMetricBins);
      row[of.columns() - 1] = of.rows[0].denominator(t);
    }
  }

  // The plain product: three loops, the innermost over neighbours, which the compiler turns into vectors.
  void multiply(std::size_t tasks, std::size_t columns) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t r = 0; r < kResamples; ++r) {
      double* __restrict sum = sums.data() + r * columns;
      for (std::size_t t = 0; t < tasks; ++t) {
        const double count = counts[r * tasks + t];
        const double* row = rows.data() + t * columns;
        for (std::size_t c = 0; c < columns; ++c) sum[c] += count * row[c];
      }
    }
  }

  std::vector<double> counts, rows, sums;
};

void plain_product(benchmark::State& state, const char* phase) {
  const Work& of = work(phase);
  Matrices matrices(of);
  for (auto _ : state) {
    matrices.multiply(of.tasks(), of.columns());
    benchmark::DoNotOptimize(matrices.sums.data());
  }
  state.SetItemsProcessed(state.iterations() * of.multiply_adds());
}

// From rows to the resampled statistic. Resamples are drawn once for all methods, and rows packed once for all resamples.
void bootstrap(benchmark::State& state, const char* phase) {
  const Work& of = work(phase);
  const TaskResamples resamples({.tasks = of.tasks(), .resamples = kResamples});
  const TaskColumns columns(of.rows);
  Resampled values(kResamples);
  for (auto _ : state) {
    resample_range(resamples, columns, 0, values);
    benchmark::DoNotOptimize(values.data());
  }
  state.SetItemsProcessed(state.iterations() * of.multiply_adds());
}

// Before anything is timed: the bootstrap says what the plain product says.
void compare(const char* phase) {
  const Work& of = work(phase);
  Matrices matrices(of);
  matrices.multiply(of.tasks(), of.columns());
  const Resampled values = resample(TaskResamples({.tasks = of.tasks(), .resamples = kResamples}), of.rows);
  for (std::size_t r = 0; r < kResamples; ++r) {
    const double* sums = matrices.sums.data() + r * of.columns();
    double expected = 0.0;
    for (std::size_t i = 0; i + 1 < of.columns(); ++i) expected += std::fabs(sums[i]);
    expected /= sums[of.columns() - 1] * static_cast<double>(kOrderings);
    if (std::fabs(*values[r] - expected) > 1e-12) {
      std::fprintf(stderr, "%s: resample %zu: got %.17g, by the plain product %.17g\n", phase, r, *values[r], expected);
      std::exit(1);
    }
  }
  std::printf("%s: %zu tasks, %zu of %zu columns multiplied; equal to the plain product\n", phase, of.tasks(),
              TaskColumns(of.rows).columns(), of.columns());
}

struct Seconds {
  double elapsed = 0.0;
  double processor = 0.0;
};

Seconds seconds_of_grid(std::span<const experiment::Condition> conditions, std::span<const experiment::Entrant> methods,
                        const experiment::ShiftOptions& options) {
  const auto vote = std::move(make_vote("sum")).value();
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t processor = std::clock();
  for (const experiment::Condition& condition : conditions) benchmark::DoNotOptimize(run_shift(condition, methods, *vote, options));
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC};
}

int grid() {
  std::vector<experiment::Condition> conditions;
  for (const dataset::PaperCondition& one : dataset::paper_conditions()) {
    conditions.push_back(
        make_condition(std::string(one.name), phase_of(one.source, one.local_models), phase_of(one.target, one.local_models)));
  }
  std::vector<experiment::Entrant> methods;
  for (const auto* info : calibrator_catalog()) methods.push_back({info->identifier, std::move(make_calibrator(info->identifier)).value()});
  for (const unsigned threads : {1U, 0U}) {
    const Seconds passes = seconds_of_grid(conditions, methods, {.resamples = 0, .threads = {threads}});
    const Seconds whole = seconds_of_grid(conditions, methods, {.threads = {threads}});
    std::printf("%s: %.1f s elapsed; %.1f s of processor time, %.1f of them passes and scores, %.1f the bootstrap\n",
                threads == 1 ? "one thread" : "all cores", whole.elapsed, whole.processor, passes.processor,
                whole.processor - passes.processor);
  }
  return 0;
}

}  // namespace
}  // namespace margin

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--grid") return margin::grid();
  std::vector<margin::bench::Promise> promises;
  for (const char* phase : {"BCB", "LCB"}) {
    margin::compare(phase);
    const std::string product = std::string("plain_product/") + phase;
    const std::string ours = std::string("bootstrap/") + phase;
    benchmark::RegisterBenchmark(product.c_str(), margin::plain_product, phase);
    benchmark::RegisterBenchmark(ours.c_str(), margin::bootstrap, phase);
    promises.push_back({ours, product, 1.0});
  }
  return margin::bench::run(argc, argv, promises);
}
