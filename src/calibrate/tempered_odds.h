// TemperedOdds: experts of margin_adaptive that start from the odds a model states. Where confidence is a probability of its own (that of
// a token, say), its order among the very confident says more than any band can. An expert takes a root of the stated odds, which tempers
// them, and scales them by what outcomes have shown: one scale for the pool, one per model.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/pair.h"
#include "margin/calibrator.h"
#include "margin/math.h"

namespace margin::internal {

inline constexpr std::size_t kRootsMax = 4;

// The odds a model states; certainty is read as one in a million.
[[nodiscard]] inline double stated_odds(double confidence) {
  constexpr double kConfidenceMin = 1e-6;
  const double stated = std::min(std::max(confidence, kConfidenceMin), 1.0 - kConfidenceMin);
  return stated / (1.0 - stated);
}

class TemperedOdds {
 public:
  // A value per expert. There is room for kRootsMax; those beyond size() take part in the arithmetic and have weight 0.
  using Values = std::array<Pair, kRootsMax / 2>;
  static double get(const Values& values, std::size_t i) { return values[i / 2][i % 2]; }
  static void set(Values& values, std::size_t i, double value) { values[i / 2][i % 2] = value; }
  [[nodiscard]] static Values all(double x) { return {both(x), both(x)}; }

  static constexpr double kScaleMax = 1e6;

  // `roots`: how often the square root is taken, ascending whole numbers; `step`: of the scales, in log-odds per unit of surprise.
  TemperedOdds(const std::vector<double>& roots, double step) : size_(roots.size()), step_(step), pool_(all(1.0)) {
    std::copy(roots.begin(), roots.end(), roots_.begin());
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  void make_room(std::size_t models) { models_.resize(models, all(1.0)); }
  void inherit(ModelId model, const TemperedOdds& donor, ModelId donor_model) { models_[model] = donor.models_[donor_model]; }

  // The stated odds as the pool's scales leave them, and then the model's.
  [[nodiscard]] Values with_pool(double odds, std::size_t size) const {
    double taken = 0.0;
    Values values = pool_;
    for (std::size_t i = 0; i < size; ++i) {
      for (; taken < roots_[i]; taken += 1.0) odds = std::sqrt(odds);
      set(values, i, odds * get(pool_, i));
    }
    return values;
  }
  [[nodiscard]] Values with_model(Values with_pool, ModelId model) const {
    for (std::size_t v = 0; v < with_pool.size(); ++v) with_pool[v] *= models_[model][v];
    return with_pool;
  }
  [[nodiscard]] static Values probabilities(Values odds, std::size_t pairs) {
    for (std::size_t v = 0; v < pairs; ++v) odds[v] = odds[v] / (both(1.0) + odds[v]);
    return odds;
  }

  // 1 + x stands for exp(x): a step of the online logistic regression on the log-odds of the scales. One task counts once for the pool.
  void learn(ModelId model, const Values& predicted, std::size_t pairs, double outcome, double weight, double per_task) {
    const auto move = [](Pair scale, Pair step) {
      return larger(smaller(scale * (both(1.0) + step), both(kScaleMax)), both(1.0 / kScaleMax));
    };
    for (std::size_t v = 0; v < pairs; ++v) {
      const Pair step = both(step_ * weight) * (both(outcome) - predicted[v]);
      models_[model][v] = move(models_[model][v], step);
      pool_[v] = move(pool_[v], step / both(per_task));
    }
  }

  // At `share` of the way from a to b, in log-odds. Within the bounds of a scale, as both are: exp and log round.
  [[nodiscard]] static Values between(const Values& a, const Values& b, double share) {
    if (share <= 0.0) return a;
    if (share >= 1.0) return b;
    Values values = a;
    for (std::size_t i = 0; i < kRootsMax; ++i) {
      set(values, i, clip(exp((1.0 - share) * log(get(a, i)) + share * log(get(b, i))), 1.0 / kScaleMax, kScaleMax));
    }
    return values;
  }
  // A model's scales beside this pool's that do what they did beside a pool's `before`.
  [[nodiscard]] Values rebased(Values model, const Values& before) const {
    for (std::size_t v = 0; v < model.size(); ++v) {
      model[v] = larger(smaller(model[v] * (before[v] / pool_[v]), both(kScaleMax)), both(1.0 / kScaleMax));
    }
    return model;
  }

  // The state, to be saved and restored: the pool's scales, and a model's.
  [[nodiscard]] Values& pool() { return pool_; }
  [[nodiscard]] const Values& pool() const { return pool_; }
  [[nodiscard]] Values& model(ModelId model) { return models_[model]; }
  [[nodiscard]] const Values& model(ModelId model) const { return models_[model]; }

 private:
  std::size_t size_;
  std::array<double, kRootsMax> roots_{};
  double step_;
  Values pool_;
  std::vector<Values> models_;
};

}  // namespace margin::internal
