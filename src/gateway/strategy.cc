#include "gateway/strategy.h"

#include <algorithm>

namespace margin::gateway {

const Strategy& find_strategy(config::Strategy strategy) {
  switch (strategy) {
    case config::Strategy::kVote: return vote_strategy();
    case config::Strategy::kCascade: return cascade_strategy();
    case config::Strategy::kSingle: return single_strategy();
    case config::Strategy::kShadow: return shadow_strategy();
  }
  return vote_strategy();
}

std::vector<std::size_t> idle(const Standing& standing) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < standing.contenders.size(); ++i) {
    if (standing.contenders[i].progress == Progress::kIdle) indices.push_back(i);
  }
  return indices;
}

bool waiting(const Standing& standing) {
  return std::any_of(standing.contenders.begin(), standing.contenders.end(),
                     [](const Contender& contender) { return contender.progress == Progress::kAsked; });
}

}  // namespace margin::gateway
