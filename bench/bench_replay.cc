// A replay of 10^6 rows with every method, beside the plain-Python twin of the tests, which does the same to fewer rows: passes alone
// (calibrate, vote, learn), and with their scores. The twin measures itself, without its start and without reading.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <thread>
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

struct Method {
  experiment::Pass pass;
  experiment::Scores scores;
};
enum class Until { kPasses, kScores };

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Replayed {
  std::vector<Method> methods;  // of the catalog
  double seconds = 0.0;         // of processor time of the busiest thread: what it takes when every thread has a core of its own
};

// The last methods of the catalog take longest, so they are begun first and no thread waits for the other at the end.
Replayed replay_all(const experiment::Stream& stream, unsigned threads, Until until) {
  const auto vote = std::move(make_vote("sum")).value();
  const auto catalog = calibrator_catalog();
  const std::vector<std::uint32_t> order = experiment::file_order(stream);
  Replayed result{.methods = std::vector<Method>(catalog.size())};
  std::mutex mutex;
  std::map<std::thread::id, double> seconds;
  experiment::parallel_for(catalog.size(), {threads}, nullptr, [&](std::size_t piece) {
    const double start = thread_seconds();
    const std::size_t i = catalog.size() - 1 - piece;
    Method& method = result.methods[i];
    const auto calibrator = std::move(make_calibrator(catalog[i]->identifier)).value();
    method.pass = experiment::replay(stream, order, *calibrator, *vote);
    if (until == Until::kScores) method.scores = experiment::score(stream, method.pass);
    const std::scoped_lock lock(mutex);
    double& own = seconds[std::this_thread::get_id()];
    own += thread_seconds() - start;
    result.seconds = std::max(result.seconds, own);
  });
  return result;
}

struct Twin {
  double rows = 0.0;
  double passes = 0.0;  // seconds
  double scores = 0.0;
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
  while (output != nullptr && std::fscanf(output, "%63s %lf", name, &value) == 2) twin.ece[name] = value;
  if (output == nullptr || pclose(output) != 0) {
    std::fprintf(stderr, "%s failed\n", MARGIN_TWIN);
    std::exit(1);
  }
  for (const auto& [key, number] : {std::pair("rows", &twin.rows), std::pair("passes", &twin.passes), std::pair("scores", &twin.scores)})
    *number = twin.ece.extract(key).mapped();
  return twin;
}

void python_twin(benchmark::State& state, Until until) {
  double rows = 0.0;
  for (auto _ : state) {
    const Twin twin = run_twin();
    state.SetIterationTime(twin.passes + (until == Until::kScores ? twin.scores : 0.0));
    rows += twin.rows;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(rows));
}

void replay_benchmark(benchmark::State& state, unsigned threads, Until until) {
  for (auto _ : state) state.SetIterationTime(replay_all(million_rows(), threads, until).seconds);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(million_rows().rows()));
}

// Before anything is timed: the twin's rows, replayed and scored by both.
void compare() {
  const Twin twin = run_twin();
  const std::vector<Method> methods = replay_all(stream_of(cohort(kTwinTasks)), 1, Until::kScores).methods;
  const auto catalog = calibrator_catalog();
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    const auto theirs = twin.ece.find(catalog[i]->identifier);
    if (theirs == twin.ece.end() || std::fabs(theirs->second - *methods[i].scores[experiment::kEce]) > 1e-9) {
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
  using margin::Until;
  benchmark::RegisterBenchmark("python_twin/passes", margin::python_twin, Until::kPasses)->UseManualTime();
  benchmark::RegisterBenchmark("python_twin/scored", margin::python_twin, Until::kScores)->UseManualTime();
  for (const auto& [name, until] : {std::pair("passes", Until::kPasses), std::pair("scored", Until::kScores)}) {
    const std::string prefix = name;
    benchmark::RegisterBenchmark((prefix + "/one_thread").c_str(), margin::replay_benchmark, 1, until)->UseManualTime();
    benchmark::RegisterBenchmark((prefix + "/two_threads").c_str(), margin::replay_benchmark, 2, until)->UseManualTime();
  }
  std::string rounds = "--rounds=3";  // a round takes seconds
  std::vector<char*> arguments = {argv[0], rounds.data()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  return margin::bench::run(static_cast<int>(arguments.size()), arguments.data(),
                            {{"passes/one_thread", "python_twin/passes", 1.0 / 150.0},
                             {"passes/two_threads", "passes/one_thread", 0.6},
                             {"scored/one_thread", "python_twin/scored", 1.0 / 75.0},
                             {"scored/two_threads", "scored/one_thread", 0.6}});
}
