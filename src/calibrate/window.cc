#include "calibrate/window.h"

namespace margin::internal {

ParameterSpec window_parameter() {
  return integer_parameter("window", 200, 1, 1'000'000,
                           "observations of a model that count; memory for all of them is taken when it joins");
}

void save_pairs(const PairWindow& window, Encoder& out) {
  out.integer(static_cast<std::uint64_t>(window.size()));
  for (std::size_t i = 0; i < window.size(); ++i) {
    out.real(window[i].confidence);
    out.real(window[i].outcome);
    out.real(window[i].weight);
  }
}

std::vector<WeightedPair> load_pairs(Decoder& in, std::size_t capacity) {
  std::vector<WeightedPair> pairs(in.length(sizeof(WeightedPair)));
  if (pairs.size() > capacity) in.fail();
  for (WeightedPair& pair : pairs) {
    pair = {.confidence = in.real(), .outcome = in.real(), .weight = in.real()};
    const bool legal = pair.confidence >= 0.0 && pair.confidence <= 1.0 && pair.outcome >= 0.0 && pair.outcome <= 1.0 &&
                       pair.weight > 0.0 && pair.weight <= 1.0;
    if (!legal) in.fail();
  }
  if (!in.ok()) pairs.clear();
  return pairs;
}

void WindowSums::push(const WeightedPair& pair) {
  if (const auto left = window_.push(pair)) {
    weight_.replace(left->weight, pair.weight);
    outcome_.replace(left->weight * left->outcome, pair.weight * pair.outcome);
    confidence_.replace(left->weight * left->confidence, pair.weight * pair.confidence);
    return;
  }
  weight_.add(pair.weight);
  outcome_.add(pair.weight * pair.outcome);
  confidence_.add(pair.weight * pair.confidence);
}

void WindowSums::load(Decoder& in) {
  for (const WeightedPair& pair : load_pairs(in, window_.capacity())) push(pair);
}

}  // namespace margin::internal
