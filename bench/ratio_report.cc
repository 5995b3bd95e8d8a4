#include "ratio_report.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

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

class FastestRun : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
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
};

}  // namespace

unsigned long allocations() { return allocation_count; }

int run(int argc, char** argv, const std::vector<Promise>& promises) {
  std::vector<char*> arguments(argv, argv + argc);
  const auto is_check = [](const char* argument) { return std::strcmp(argument, "--check") == 0; };
  const bool check = std::any_of(arguments.begin(), arguments.end(), is_check);
  std::erase_if(arguments, is_check);
  // Defaults that a flag on the command line overrides.
  for (const char* flag : {"--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=25", "--benchmark_min_time=0.02"}) {
    arguments.insert(arguments.begin() + 1, const_cast<char*>(flag));
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  FastestRun report;
  benchmark::RunSpecifiedBenchmarks(&report);
  std::printf("%-44s %12s %10s %10s\n", "benchmark", "ns per item", "x limit", "promised");
  bool kept = true;
  for (const std::string& name : report.order) {
    std::printf("%-44s %12.2f", name.c_str(), report.fastest[name]);
    for (const Promise& promise : promises) {
      if (promise.name != name || !report.fastest.contains(promise.limit)) continue;
      const double times = report.fastest[name] / report.fastest[promise.limit];
      kept = kept && times <= promise.times;
      std::printf(" %10.2f %10.0f%s", times, promise.times, times <= promise.times ? "" : "  BROKEN");
    }
    std::printf("\n");
  }
  return check && !kept ? 1 : 0;
}

}  // namespace margin::bench
