// How the benchmarks report: every time as a multiple of the machine's limit measured in the same run. All benchmarks run in turn, in
// many rounds, and the fastest round of each counts: other programs can only make a run slower.
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

// The machine's limit: one dependent multiply-add, which no exponential average can avoid. Always registered.
inline const std::string kChain = "multiply_add_chain";

// Runs the registered benchmarks with the flags of Google Benchmark, plus --rounds=N, and --check, which makes a broken promise an
// error. Prints the table and returns the exit code.
int run(int argc, char** argv, const std::vector<Promise>& promises);

// The calling thread's C++ heap allocations so far.
[[nodiscard]] unsigned long allocations();

}  // namespace margin::bench
