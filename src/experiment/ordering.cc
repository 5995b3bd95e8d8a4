#include "experiment/ordering.h"

#include <map>
#include <numeric>
#include <span>

#include "margin/random.h"

namespace margin::experiment {

std::vector<std::uint32_t> file_order(const Stream& stream) {
  std::vector<std::uint32_t> order(stream.tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::vector<std::uint32_t> shuffled_order(const Stream& stream, std::uint64_t seed, std::uint64_t index) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> places;  // by phase
  for (std::uint32_t task = 0; task < stream.tasks.size(); ++task) places[stream.tasks[task].phase].push_back(task);

  Random random = Random::stream(seed, index);
  std::vector<std::uint32_t> order(stream.tasks.size());
  for (const auto& [phase, tasks] : places) {
    std::vector<std::uint32_t> shuffled = tasks;
    random.shuffle(std::span(shuffled));
    for (std::size_t i = 0; i < tasks.size(); ++i) order[tasks[i]] = shuffled[i];
  }
  return order;
}

}  // namespace margin::experiment
