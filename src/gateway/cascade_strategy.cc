// cascade: the cheapest model first, the next one as long as p_correct stays below the target.
#include <algorithm>

#include "gateway/strategy.h"

namespace margin::gateway {
namespace {

class CascadeStrategy final : public Strategy {
 public:
  [[nodiscard]] Step next(const Standing& standing) const override {
    if (waiting(standing)) return {};
    const bool sure =
        standing.decision != nullptr && standing.decision->selected != kNoAnswer && standing.decision->sure.p_correct >= standing.target;
    const std::vector<std::size_t> left = idle(standing);
    if (sure || left.empty()) return {.answer = true, .done = true};
    const auto cheaper = [&](std::size_t a, std::size_t b) { return standing.contenders[a].price < standing.contenders[b].price; };
    return {.ask = {*std::min_element(left.begin(), left.end(), cheaper)}};
  }
};

}  // namespace

const Strategy& cascade_strategy() {
  static const CascadeStrategy kStrategy;
  return kStrategy;
}

}  // namespace margin::gateway
