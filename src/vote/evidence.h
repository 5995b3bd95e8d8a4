// Evidence: what one ballot is worth in log odds; used by log_odds, discounted and stacked.
#pragma once

#include <algorithm>
#include <vector>

#include "margin/math.h"
#include "margin/parameter.h"

namespace margin::internal {

// x = max(floor, logit p + ln alternatives), p clipped to [clip, 1 - clip]. With `alternatives` wrong answers alike, a model at
// chance level is worth nothing; the floor lets it still break a tie.
class Evidence {
 public:
  explicit Evidence(const Parameters& parameters)
      : floor_(number(parameters, "floor")), clip_(number(parameters, "clip")), chance_(log(number(parameters, "alternatives"))) {}

  [[nodiscard]] double operator()(double confidence) const {
    return std::max(floor_, logit(clip(confidence, clip_, 1.0 - clip_)) + chance_);
  }

  // The parameters of Evidence, followed by a vote's own.
  [[nodiscard]] static std::vector<ParameterSpec> parameters(std::vector<ParameterSpec> own = {}) {
    std::vector<ParameterSpec> specs = {
        number_parameter("floor", 0.02, 0.0, 10.0, "least evidence of a ballot, in log odds"),
        number_parameter("alternatives", 3.0, 1.0, 1e6,
                         "wrong answers a guess could hit: a confidence of 1/(1 + alternatives) is no evidence"),
        number_parameter("clip", 0.001, 1e-12, 0.49, "confidences are clipped to [clip, 1 - clip] before their log odds"),
    };
    specs.insert(specs.end(), own.begin(), own.end());
    return specs;
  }

 private:
  double floor_;
  double clip_;
  double chance_;
};

}  // namespace margin::internal
