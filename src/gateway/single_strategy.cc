// single: the model whose answer is most likely right is asked alone; with a small, recorded chance another one, so that nobody is
// forgotten. When it fails, the next best.
#include <algorithm>

#include "gateway/strategy.h"

namespace margin::gateway {
namespace {

class SingleStrategy final : public Strategy {
 public:
  [[nodiscard]] Step next(const Standing& standing) const override {
    if (waiting(standing)) return {};
    const std::vector<std::size_t> left = idle(standing);
    const bool first = left.size() == standing.contenders.size();
    const bool answered = standing.decision != nullptr && standing.decision->selected != kNoAnswer;
    if ((!first && answered) || left.empty()) return {.answer = true, .done = true};
    const auto worse = [&](std::size_t a, std::size_t b) { return standing.contenders[a].expected < standing.contenders[b].expected; };
    const std::size_t best = *std::max_element(left.begin(), left.end(), worse);
    if (!first || left.size() == 1) return {.ask = {best}};
    // One of the others, each alike.
    const auto others = static_cast<double>(left.size() - 1);
    if (standing.chance >= standing.explore) return {.ask = {best}, .propensity = 1.0 - standing.explore};
    auto place = static_cast<std::size_t>(standing.chance / standing.explore * others);
    for (const std::size_t model : left) {
      if (model == best) continue;
      if (place == 0) return {.ask = {model}, .propensity = standing.explore / others};
      --place;
    }
    return {.ask = {best}};
  }
};

}  // namespace

const Strategy& single_strategy() {
  static const SingleStrategy kStrategy;
  return kStrategy;
}

}  // namespace margin::gateway
