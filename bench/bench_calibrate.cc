// Learning and calibrating one observation, beside the machine's limit.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "golden_data.h"
#include "margin/calibrator.h"
#include "margin/digest.h"
#include "margin/random.h"
#include "ratio_report.h"

namespace margin {
namespace {

constexpr ModelId kModels = 8;

std::unique_ptr<Calibrator> make(const char* method) {
  auto calibrator = std::move(make_calibrator(method)).value();
  for (ModelId model = 0; model < kModels; ++model) calibrator->join(model);
  return calibrator;
}

// Small enough for the first-level cache, so that the memory is not what is measured.
std::vector<Observation> stream(std::size_t size, ModelId models) {
  Random random(7);
  std::vector<Observation> rows(size);
  for (Observation& row : rows) {
    row = {.model = static_cast<ModelId>(random.below(models)), .confidence = random.uniform(), .outcome = random.chance(0.7) ? 1.0 : 0.0};
  }
  return rows;
}
const std::vector<Observation>& rows() {
  static const std::vector<Observation> kRows = stream(512, kModels);
  return kRows;
}

// One prequential pass by arrays.
void in_batches(benchmark::State& state, const char* method) {
  auto calibrator = make(method);
  std::vector<double> calibrated(rows().size());
  const unsigned long before = bench::allocations();
  for (auto _ : state) {
    if (!calibrator->prequential_batch(rows(), calibrated)) state.SkipWithError("refused");
    benchmark::DoNotOptimize(calibrated.data());
  }
  if (bench::allocations() != before) state.SkipWithError("allocated");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows().size()));
}

// calibrate() and observe() for each row, through the public interface.
void one_by_one(benchmark::State& state, const char* method) {
  auto calibrator = make(method);
  double sum = 0.0;
  const unsigned long before = bench::allocations();
  for (auto _ : state) {
    for (const Observation& row : rows()) {
      sum += calibrator->calibrate(row.model, row.confidence);
      if (!calibrator->observe(row)) state.SkipWithError("refused");
    }
    benchmark::DoNotOptimize(sum);
  }
  if (bench::allocations() != before) state.SkipWithError("allocated");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows().size()));
}

// The same after a stream of `range` observations, in a pool of `range(1)` models: the cost must depend on neither.
void after(benchmark::State& state) {
  auto calibrator = std::move(make_calibrator("margin_adaptive")).value();
  const auto models = static_cast<ModelId>(state.range(1));
  for (ModelId model = 0; model < models; ++model) calibrator->join(model);
  const std::vector<Observation> past = stream(static_cast<std::size_t>(state.range(0)), models);
  if (!calibrator->observe_batch(past)) state.SkipWithError("refused");
  const std::vector<Observation> now = stream(512, models);
  std::vector<double> calibrated(now.size());
  for (auto _ : state) {
    if (!calibrator->prequential_batch(now, calibrated)) state.SkipWithError("refused");
    benchmark::DoNotOptimize(calibrated.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(now.size()));
}
BENCHMARK(after)->Args({1'000, 8})->Args({1'000'000, 8})->Args({1'000'000, 64});

// Before anything is timed: the golden stream, calibrated as the benchmark will calibrate.
void compare_with_golden(const char* method) {
  const golden::Stream shift = golden::read_stream("shift");
  for (const golden::Expected& expected : golden::read_expected("shift")) {
    if (expected.method != method || !expected.parameters.empty() || expected.lag != 0) continue;
    auto calibrator = std::move(make_calibrator(method)).value();
    std::vector<double> calibrated(shift.rows.size());
    for (const auto& task : shift.tasks) {
      for (const std::size_t r : task) calibrator->join(shift.rows[r].id);
      for (const std::size_t r : task) calibrated[r] = calibrator->calibrate(shift.rows[r].id, *shift.rows[r].confidence);
      calibrator->begin_task();
      for (const std::size_t r : task) {
        if (!calibrator->observe({.model = shift.rows[r].id, .confidence = *shift.rows[r].confidence, .outcome = *shift.rows[r].outcome}))
          std::abort();
      }
      calibrator->end_task();
    }
    for (std::size_t r = 0; r < calibrated.size(); ++r) {
      if (std::fabs(calibrated[r] - expected.calibrated[r]) > 1e-9) {
        std::fprintf(stderr, "%s: row %zu: got %.17g, golden %.17g\n", method, r, calibrated[r], expected.calibrated[r]);
        std::exit(1);
      }
    }
    std::printf("%-20s result %s (equal to the golden stream)\n", method, calibrator->digest().hex().c_str());
    return;
  }
  std::fprintf(stderr, "%s: no golden line\n", method);
  std::exit(1);
}

}  // namespace
}  // namespace margin

int main(int argc, char** argv) {
  for (const char* method : {"margin", "margin_adaptive"}) margin::compare_with_golden(method);
  std::vector<margin::bench::Promise> promises = {{"margin/batch", margin::bench::kChain, 3.0},
                                                  {"margin_adaptive/batch", margin::bench::kChain, 120.0},
                                                  {"margin_adaptive/one_by_one", margin::bench::kChain, 120.0},
                                                  {"after/1000000/8", "after/1000/8", 1.5},
                                                  {"after/1000000/64", "after/1000/8", 2.0}};
  for (const auto* info : margin::calibrator_catalog()) {
    const char* method = info->identifier.c_str();
    benchmark::RegisterBenchmark((info->identifier + "/batch").c_str(), margin::in_batches, method);
    benchmark::RegisterBenchmark((info->identifier + "/one_by_one").c_str(), margin::one_by_one, method);
  }
  return margin::bench::run(argc, argv, promises);
}
