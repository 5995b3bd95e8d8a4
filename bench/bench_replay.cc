// A replay of 10^6 rows with every method, scores included, beside the plain-Python twin of the tests, which does the same to fewer rows.
// The twin measures itself, without its start and without reading.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dataset/simulate.h"
#include "dataset/temporary_file.h"
#include "experiment/ordering.h"
#include "experiment/parallel.h"
#include "experiment/replay.h"
#include "experiment/score.h"
#include "ratio_report.h"

namespace margin {
namespace {

constexpr std::uint32_t kTasks = 170'000;  // of six models
constexpr std::uint32_t kTwinTasks = 1'000;

dataset::Simulation cohort(std::uint32_t tasks) { return std::move(dataset::simulate("drift", {.tasks = tasks})).value(); }

experiment::Stream stream_of(const dataset::Simulation& simulation) {
  return std::move(experiment::make_streams(simulation.log, {})).value().front();
}

const experiment::Stream& million_rows() {
  static const experiment::Stream kStream = stream_of(cohort(kTasks));
  return kStream;
}

// By method of the catalog.
std::vector<experiment::Scores> replay_all(const experiment::Stream& stream, unsigned threads) {
  const auto vote = std::move(make_vote("sum")).value();
  const auto catalog = calibrator_catalog();
  const std::vector<std::uint32_t> order = experiment::file_order(stream);
  std::vector<experiment::Scores> scores(catalog.size());
  experiment::parallel_for(catalog.size(), {threads}, nullptr, [&](std::size_t i) {
    const auto method = std::move(make_calibrator(catalog[i]->identifier)).value();
    scores[i] = experiment::score(stream, experiment::replay(stream, order, *method, *vote));
  });
  return scores;
}

struct Twin {
  double rows = 0.0;
  double seconds = 0.0;
  std::map<std::string, double> ece;  // by method
};

Twin run_twin() {
  static const dataset::TemporaryFile kFile([] {
    std::string text;
    dataset::write_json_lines(cohort(kTwinTasks), [&](std::string_view line) { text += line; });
    return text;
  }());
  Twin twin;
  FILE* output = popen((std::string(MARGIN_TWIN) + " --time " + kFile.path()).c_str(), "r");
  char name[64];
  double value = 0.0;
  while (output != nullptr && std::fscanf(output, "%63s %lf", name, &value) == 2) {
    if (std::string_view(name) == "rows")
      twin.rows = value;
    else if (std::string_view(name) == "seconds")
      twin.seconds = value;
    else
      twin.ece[name] = value;
  }
  if (output == nullptr || pclose(output) != 0) {
    std::fprintf(stderr, "%s failed\n", MARGIN_TWIN);
    std::exit(1);
  }
  return twin;
}

void python_twin(benchmark::State& state) {
  double rows = 0.0;
  for (auto _ : state) {
    const Twin twin = run_twin();
    state.SetIterationTime(twin.seconds);
    rows += twin.rows;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(rows));
}

void replay_all(benchmark::State& state, unsigned threads) {
  for (auto _ : state) benchmark::DoNotOptimize(replay_all(million_rows(), threads));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(million_rows().rows()));
}

// Before anything is timed: the twin's rows, replayed and scored by both.
void compare() {
  const Twin twin = run_twin();
  const std::vector<experiment::Scores> scores = replay_all(stream_of(cohort(kTwinTasks)), 1);
  const auto catalog = calibrator_catalog();
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    const auto theirs = twin.ece.find(catalog[i]->identifier);
    if (theirs == twin.ece.end() || std::fabs(theirs->second - *scores[i][experiment::kEce]) > 1e-9) {
      std::fprintf(stderr, "%s: the twin does not agree\n", catalog[i]->identifier.c_str());
      std::exit(1);
    }
  }
  std::printf("%zu methods equal to the twin over %.0f rows; timed over %zu rows\n", catalog.size(), twin.rows, million_rows().rows());
}

}  // namespace
}  // namespace margin

int main(int argc, char** argv) {
  margin::compare();
  benchmark::RegisterBenchmark("python_twin", margin::python_twin)->UseManualTime();
  benchmark::RegisterBenchmark("replay/one_thread", [](auto& state) { margin::replay_all(state, 1); });
  benchmark::RegisterBenchmark("replay/two_threads", [](auto& state) { margin::replay_all(state, 2); })->UseRealTime();
  std::string rounds = "--rounds=3";  // a round takes seconds
  std::vector<char*> arguments = {argv[0], rounds.data()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  return margin::bench::run(static_cast<int>(arguments.size()), arguments.data(),
                            {{"replay/one_thread", "python_twin", 1.0 / 150.0}, {"replay/two_threads", "replay/one_thread", 0.6}});
}
