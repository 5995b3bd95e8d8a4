// Rightness: the chance that a response is right, given whether it was selected and whether the selection was right. An online logistic
// regression whose coefficients are beliefs (mean and variance) that fade back to where they began; used by the remedy `estimated`.
// docs/feedback.md#estimated maps the formulas to this file.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/encoding.h"
#include "margin/calibrator.h"

namespace margin::internal {

// What is known of a response besides its model and confidence.
enum Situation : std::size_t { kBesideWrong, kBesideRight, kSelected, kSituations };  // beside: not selected, next to a selection that was

class Rightness {
 public:
  Rightness();

  // Time passes: coefficients become less certain.
  void begin_task();
  // Makes room for the model; to be called for each response before anything else is asked or learned about it.
  void meet(ModelId model);
  [[nodiscard]] double chance(Situation situation, ModelId model, double confidence) const;
  void learn(Situation situation, ModelId model, double confidence, double outcome, double weight);

  void save(Encoder& out) const;
  void load(Decoder& in);

 private:
  struct Belief {
    double mean = 0.0;
    double variance = 0.0;
  };
  // Regressions that differ in how fast the common level may move; they are mixed by recent likelihood.
  struct Expert {
    double weight = 0.0;
    Belief level;
    std::array<Belief, kSituations> situation;
    Belief slope;
    std::vector<Belief> models;
  };
  static constexpr std::size_t kExperts = 3;

  [[nodiscard]] static double log_odds(const Expert& expert, Situation situation, ModelId model, double steepness);
  [[nodiscard]] static double variance(const Expert& expert, Situation situation, ModelId model, double steepness);
  // `Some`: Expert or const Expert.
  template <class Some, class Visit>
  static void for_each_belief(Some& expert, const Visit& visit);

  std::array<Expert, kExperts> experts_;
};

}  // namespace margin::internal
