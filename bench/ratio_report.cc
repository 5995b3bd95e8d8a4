#include "ratio_report.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string_view>

namespace {

thread_local unsigned long allocation_count = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocation_count;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace margin::bench {
namespace {

// Not inlined, so that the average stays in a register: through memory the chain would be longer than it must be.
[[gnu::noinline]] double chain(const std::vector<double>& outcomes, double average) {
  for (const double outcome : outcomes) average = 0.96 * average + 0.04 * outcome;
  return average;
}

void multiply_add_chain(benchmark::State& state) {
  const std::vector<double> outcomes(512, 0.7);
  double average = 0.5;
  for (auto _ : state) average = chain(outcomes, average);
  benchmark::DoNotOptimize(average);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(outcomes.size()));
}

class FastestRun : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) {
        std::fprintf(stderr, "%s: %s\n", run.benchmark_name().c_str(), run.error_message.c_str());
        failed = true;
        continue;
      }
      const auto items = run.counters.find("items_per_second");
      const double nanoseconds = items != run.counters.end() ? 1e9 / items->second.value : run.GetAdjustedCPUTime();
      const std::string name = run.run_name.function_name + (run.run_name.args.empty() ? "" : "/" + run.run_name.args);
      const auto [entry, is_new] = fastest.try_emplace(name, nanoseconds);
      if (is_new) order.push_back(name);
      entry->second = std::min(entry->second, nanoseconds);
    }
  }

  std::map<std::string, double> fastest;  // nanoseconds per item
  std::vector<std::string> order;
  bool failed = false;
};

}  // namespace

unsigned long allocations() { return allocation_count; }

int run(int argc, char** argv, const std::vector<Promise>& promises) {
  bool check = false;
  int rounds = 15;
  std::string min_time = "--benchmark_min_time=0.01";  // a default: a flag on the command line comes later and wins
  std::vector<char*> arguments = {argv[0], min_time.data()};
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--check")
      check = true;
    else if (argument.starts_with("--rounds="))
      rounds = std::max(1, std::atoi(argv[i] + std::strlen("--rounds=")));
    else
      arguments.push_back(argv[i]);
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  benchmark::RegisterBenchmark(kChain.c_str(), multiply_add_chain);
  FastestRun report;
  for (int round = 0; round < rounds; ++round) benchmark::RunSpecifiedBenchmarks(&report);
  std::printf("%-44s %12s %10s %10s\n", "benchmark", "ns per item", "x limit", "promised");
  bool kept = true;
  for (const std::string& name : report.order) {
    const auto promise = std::find_if(promises.begin(), promises.end(), [&](const Promise& p) { return p.name == name; });
    const std::string& limit = promise != promises.end() ? promise->limit : kChain;
    if (!report.fastest.contains(limit)) continue;  // filtered away
    const double times = report.fastest[name] / report.fastest[limit];
    std::printf("%-44s %12.2f %10.4g", name.c_str(), report.fastest[name], times);
    if (promise != promises.end()) {
      kept = kept && times <= promise->times;
      std::printf(" %10.4g of %s%s", promise->times, limit.c_str(), times <= promise->times ? "" : "  BROKEN");
    }
    std::printf("\n");
  }
  return report.failed || (check && !kept) ? 1 : 0;
}

}  // namespace margin::bench
