// parallel_for: independent pieces of work on all cores. Piece i writes result i, so the result does not depend on the number of threads.
// Also where long work learns that it should stop, and says how far it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace margin::experiment {

// Counts finished pieces. Threads only add; whoever watches reads. `stop` is set from outside (Ctrl-C): pieces not begun are then left out.
struct Progress {
  std::atomic<std::size_t> done{0};
  std::atomic<std::size_t> total{0};
  std::atomic<bool> stop{false};
};

// 0: as many threads as the machine has cores.
struct Threads {
  unsigned count = 0;
};

// Calls work(0) .. work(pieces - 1), each once, on at most `threads` threads; returns when all have ended. False when stopped early.
bool parallel_for(std::size_t pieces, Threads threads, Progress* progress, const std::function<void(std::size_t)>& work);

}  // namespace margin::experiment
