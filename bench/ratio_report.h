// How the benchmarks report: every time as a multiple of the machine's limit measured in the same run, repetitions interleaved at random,
// the fastest repetition of each (other programs can only make a run slower). `--check` makes a broken promise an error.
#pragma once

#include <string>
#include <vector>

namespace margin::bench {

// A promise: the benchmark `name`, per item, takes at most `times` the benchmark `limit`.
struct Promise {
  std::string name;
  std::string limit;
  double times;
};

// Runs the registered benchmarks with the flags of Google Benchmark plus --check, prints the table, and returns the exit code.
int run(int argc, char** argv, const std::vector<Promise>& promises);

// The calling thread's C++ heap allocations so far.
[[nodiscard]] unsigned long allocations();

}  // namespace margin::bench
