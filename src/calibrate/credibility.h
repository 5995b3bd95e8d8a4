// Credibility: how far a band's own factor is believed against the one it shrinks toward, estimated from how much bands differ beyond
// chance (Buhlmann and Straub). What margin uses where credibility = estimated. docs/calibration.md#options-under-study has the formulas.
#pragma once

#include <algorithm>

#include "base/encoding.h"
#include "base/pair.h"
#include "calibrate/rate.h"

namespace margin::internal {

// {sum of the weights, sum of their squares} of what an exponential average has seen; its start has none.
using SeenWeights = Pair;

[[nodiscard]] inline SeenWeights seen_one_more(SeenWeights weights, double rate) {
  const double keep = 1.0 - rate;
  return SeenWeights{keep * weights[0] + rate, keep * keep * weights[1] + rate * rate};
}
// As many equally weighted observations would be worth as much; 0, or at least 1.
[[nodiscard]] inline double effective_count(SeenWeights weights) {
  return weights[1] > 0.0 ? std::max(1.0, weights[0] * weights[0] / weights[1]) : 0.0;
}

class Credibility {
 public:
  // Bands differ at first as much as makes `shrinkage` observations weigh half.
  explicit Credibility(double shrinkage)
      : squared_(kStartFreedom * kStartNoise / std::max(shrinkage, 1.0) + kStartFreedom * kStartNoise / kStartCount) {}

  // What a band that was just taught looks like.
  struct Band {
    double accuracy = 0.0;
    double expected = 0.0;  // what the factor it shrinks toward makes of its stated confidence
    double count = 0.0;     // effective, at least 1
    double freedom = 1.0;   // share of the other bands in the expected value: it does not follow this band
  };
  void learn(const Band& band, double weight) {
    count_ += weight;
    const double rate = weight * settling_rate(kRate, kPrior, count_);
    const double noise = band.accuracy * (1.0 - band.accuracy);
    const double apart = band.accuracy - band.expected;
    const auto follow = [rate](double& average, double value) { average += rate * (value - average); };
    follow(noise_, noise);
    follow(squared_, apart * apart);
    follow(chance_, band.freedom * noise / band.count);
    follow(freedom_, band.freedom);
  }

  // n t / (n t + s): n observations, t the variance between bands, s that of one outcome.
  [[nodiscard]] double share(double count) const {
    const double signal = count * std::max(0.0, squared_ - chance_);
    const double sum = signal + noise_ * freedom_;
    return sum > 0.0 ? signal / sum : 0.0;
  }

  void save(Encoder& out) const {
    for (const double value : {noise_, squared_, chance_, freedom_, count_}) out.real(value);
  }
  void load(Decoder& in) {
    for (double* value : {&noise_, &squared_, &chance_, &freedom_, &count_}) {
      *value = in.real();
      if (!(*value >= 0.0 && *value < 1e18)) in.fail();
    }
  }

 private:
  static constexpr double kRate = 0.002;  // how bands differ changes more slowly than how right models are
  static constexpr double kPrior = 100.0;
  static constexpr double kStartNoise = 0.2, kStartFreedom = 0.5, kStartCount = 25.0;

  // Averages over what was taught: a (1 - a); (a - expected)^2; of that, what chance alone would give; the freedom.
  double noise_ = kStartNoise;
  double squared_;
  double chance_ = kStartFreedom * kStartNoise / kStartCount;
  double freedom_ = kStartFreedom;
  double count_ = 0.0;
};

}  // namespace margin::internal
