#include "experiment/parallel.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace margin::experiment {

bool parallel_for(std::size_t pieces, Threads threads, Progress* progress, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto stopped = [&] { return progress != nullptr && progress->stop.load(std::memory_order_relaxed); };
  const auto worker = [&] {
    while (!stopped()) {
      const std::size_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces) return;
      work(piece);
      if (progress != nullptr) progress->done.fetch_add(1, std::memory_order_relaxed);
    }
  };
  const unsigned cores = threads.count != 0 ? threads.count : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < std::min<std::size_t>(cores, pieces); ++i) helpers.emplace_back(worker);
  worker();
  for (std::thread& helper : helpers) helper.join();
  return !stopped();
}

}  // namespace margin::experiment
