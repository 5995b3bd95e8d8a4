// vote: everybody is asked at once; heard enough when nobody missing could change the selected answer.
#include "gateway/strategy.h"

namespace margin::gateway {
namespace {

class VoteStrategy final : public Strategy {
 public:
  [[nodiscard]] Step next(const Standing& standing) const override {
    if (std::vector<std::size_t> all = idle(standing); !all.empty()) return {.ask = std::move(all)};
    const bool enough = !waiting(standing) || (standing.decision != nullptr && standing.settled);
    return {.answer = enough, .done = enough};
  }
};

}  // namespace

const Strategy& vote_strategy() {
  static const VoteStrategy kStrategy;
  return kStrategy;
}

}  // namespace margin::gateway
