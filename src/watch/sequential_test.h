// What the detectors of this folder are made of: a mean with a bounded memory, and a test that may be read after every observation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "margin/math.h"

namespace margin::watch {

// Means over fewer observations are no reference.
inline constexpr std::uint64_t kReferenceMin = 25;
// How many observations a reference remembers.
inline constexpr std::uint64_t kMemory = 500;

// The plain mean of the first `memory` observations, an exponential average afterwards.
struct RunningMean {
  std::uint64_t memory = kMemory;
  std::uint64_t count = 0;
  double mean = 0.0;

  void add(double x) {
    ++count;
    mean += (x - mean) / static_cast<double>(std::min(count, memory));
  }
  [[nodiscard]] bool ready() const { return count >= kReferenceMin; }

  // Its state, to be written (a const Self) or read: see watch/encoding.h.
  template <class Self, class Visit>
  static void visit(Self& self, Visit& visit) {
    visit(self.count);
    visit(self.mean);
  }
};

// A stretch of observations that speaks against a claim.
struct Evidence {
  std::uint64_t since = 0;
  std::uint64_t observations = 0;
  double observed = 0.0;  // their mean
  double tolerated = 0.0;
  double log_ratio = 0.0;
  double threshold = 0.0;
};

// Tests the claim "the next observation, in [0, 1], has a mean of at most (at least) `tolerated`" by the cumulated logarithm of a
// likelihood ratio, kept at 0 or above (CUSUM). While the claim holds each ratio has an expectation of at most 1, for fractions too since
// it is linear in x, so a threshold h is passed at most once in e^h observations, in the mean: no correction for looking often is needed.
class SequentialTest {
 public:
  // The evidence, when it passes the threshold; the test then starts anew.
  std::optional<Evidence> rise(double x, double tolerated, std::uint64_t task, double threshold) {
    if (log_ratio_ <= 0.0) *this = SequentialTest(task);
    const double claimed = clip(tolerated, kMeanMin, 1.0 - kMeanMin);
    const double suspected = claimed + std::min(kStep, (1.0 - claimed) / 2.0);
    log_ratio_ += log(x * suspected / claimed + (1.0 - x) * (1.0 - suspected) / (1.0 - claimed));
    sum_ += x;
    ++count_;
    if (log_ratio_ < threshold) return std::nullopt;
    const Evidence evidence{.since = since_,
                            .observations = count_,
                            .observed = sum_ / static_cast<double>(count_),
                            .tolerated = claimed,
                            .log_ratio = log_ratio_,
                            .threshold = threshold};
    *this = {};
    return evidence;
  }
  std::optional<Evidence> fall(double x, double tolerated, std::uint64_t task, double threshold) {
    std::optional<Evidence> evidence = rise(1.0 - x, 1.0 - tolerated, task, threshold);
    if (evidence) {
      evidence->observed = 1.0 - evidence->observed;
      evidence->tolerated = 1.0 - evidence->tolerated;
    }
    return evidence;
  }
  // Between observations: is there any evidence?
  [[nodiscard]] bool running() const { return log_ratio_ > 0.0; }

  SequentialTest() = default;

  template <class Self, class Visit>
  static void visit(Self& self, Visit& visit) {
    visit(self.log_ratio_);
    visit(self.sum_);
    visit(self.count_);
    visit(self.since_);
  }

 private:
  // What is suspected lies this far beyond what is tolerated. Smaller steps find smaller changes, and large ones later.
  static constexpr double kStep = 0.2;
  // A claim of never or always would be refuted by one observation.
  static constexpr double kMeanMin = 0.02;

  explicit SequentialTest(std::uint64_t since) : since_(since) {}

  double log_ratio_ = 0.0;
  double sum_ = 0.0;
  std::uint64_t count_ = 0;
  std::uint64_t since_ = 0;
};

}  // namespace margin::watch
