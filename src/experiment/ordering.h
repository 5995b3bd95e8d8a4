// Orderings: the seeded permutations of a stream's tasks that results are averaged over.
#pragma once

#include <cstdint>
#include <vector>

#include "experiment/stream.h"

namespace margin::experiment {

[[nodiscard]] std::vector<std::uint32_t> file_order(const Stream& stream);

// Ordering number `index` of `seed`: each phase's tasks are shuffled among the places that phase has; a task's rows stay together.
// The same for every method, and independent of how many orderings are asked for.
[[nodiscard]] std::vector<std::uint32_t> shuffled_order(const Stream& stream, std::uint64_t seed, std::uint64_t index);

}  // namespace margin::experiment
