// Closing: the three steps of margin_adaptive from the experts' mixture to the calibrated confidence. Resolution must be earned (a slope
// toward the model's plain accuracy, learned by ridge regression), the pool is recalibrated by output bin, and what a bin has left over is
// steered to zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/pair.h"
#include "calibrate/both_histories.h"
#include "margin/calibrator.h"
#include "margin/math.h"
#include "margin/parameter.h"

namespace margin::internal {

class Closing {
 public:
  // All steps from mixture to calibrated.
  struct Steps {
    double mixed;
    double plain;
    double earned;
    double recalibrated;
    double final;
  };

  explicit Closing(const Parameters& parameters)
      : resolution_prior_(number(parameters, "resolution_prior")),
        resolution_start_(number(parameters, "resolution_start")),
        resolution_tasks_(number(parameters, "resolution_tasks")),
        recalibration_tasks_(number(parameters, "recalibration_tasks")),
        steering_(number(parameters, "steering")),
        steering_responses_(parameters.contains("steering_responses") ? number(parameters, "steering_responses") : 0.0),
        bin_count_(static_cast<std::size_t>(integer(parameters, "bins"))),
        bin_prior_(bin_count_),
        bin_outcome_(bin_count_),
        bin_predicted_(bin_count_),
        bin_steer_(bin_count_) {
    for (std::size_t bin = 0; bin < bin_count_; ++bin) {  // as if that many answers of the bin's centre had been seen
      bin_prior_[bin] = number(parameters, "recalibration_prior") * (static_cast<double>(bin) + 0.5) / static_cast<double>(bin_count_);
    }
    set_models(0.0);
  }

  // Memories run in observations per taught model.
  void set_models(double taught) {
    const double n = std::max(1.0, taught);
    resolution_keep_ = 1.0 - 1.0 / (resolution_tasks_ * n);
    recalibration_keep_ = 1.0 - 1.0 / (recalibration_tasks_ * n);
  }

  // `resolution`: as the function below tells, which few forecasts see change.
  [[nodiscard]] Steps apply(double mixed, double plain, double resolution) const {
    Steps steps{.mixed = mixed, .plain = plain};
    steps.earned = clip01(plain + resolution * (mixed - plain));
    steps.recalibrated = clip01(steps.earned * recalibration(steps.earned));
    const Place at = place(steps.recalibrated);
    steps.final = clip01(steps.recalibrated + (1.0 - at.share) * bin_steer_[at.lower] + at.share * bin_steer_[at.upper]);
    return steps;
  }

  // How much of the difference between answers is believed.
  [[nodiscard]] double resolution(double per_task) const {
    const double prior = resolution_prior_ / per_task;
    return clip01((agreement_ + prior * resolution_start_) / (spread_ + prior));
  }

  void learn(const Steps& steps, double outcome, double weight, double per_task) {
    steer(steps.recalibrated, weight * (outcome - steps.final), per_task);
    const double difference = steps.mixed - steps.plain;
    spread_ = spread_ * resolution_keep_ + weight * difference * difference;
    agreement_ = agreement_ * resolution_keep_ + weight * difference * (outcome - steps.plain);
    recalibrate(steps.earned, outcome, weight);
  }

  // Takes over what `other` has seen, `share` of the evidence of both. `taught`: models here before, there, and together.
  struct Taught {
    double own, theirs, together;
  };
  void merge(const Closing& other, const BothHistories& seen, const Taught& taught, double share) {
    const auto kept = [&](double tasks) { return seen.kept(tasks * taught.own, tasks * taught.theirs, tasks * taught.together); };
    const double slope = kept(resolution_tasks_);
    spread_ = slope * (spread_ + other.spread_);
    agreement_ = slope * (agreement_ + other.agreement_);
    const double bins = kept(recalibration_tasks_);
    for (std::size_t bin = 0; bin < bin_count_; ++bin) {
      bin_outcome_[bin] = bins * (bin_outcome_[bin] + other.bin_outcome_[bin]);
      bin_predicted_[bin] = bins * (bin_predicted_[bin] + other.bin_predicted_[bin]);
      bin_steer_[bin] = (1.0 - share) * bin_steer_[bin] + share * other.bin_steer_[bin];
    }
  }

  // The state, to be saved (a const Closing) or restored: visit(value, whether it is a sum of what cannot be negative).
  template <class Self, class Visit>
  static void visit_slope(Self& self, const Visit& visit) {
    visit(self.spread_, true);
    visit(self.agreement_, false);
  }
  template <class Self, class Visit>
  static void visit_bins(Self& self, const Visit& visit) {
    visit_sums(self, visit);
    for (auto& x : self.bin_steer_) visit(x, false);
  }
  template <class Self, class Visit>
  static void visit_sums(Self& self, const Visit& visit) {
    for (auto& x : self.bin_outcome_) visit(x, true);
    for (auto& x : self.bin_predicted_) visit(x, true);
  }

 private:
  // Where p lies between bin centres.
  struct Place {
    std::size_t lower;
    std::size_t upper;
    double share;  // of the upper
  };
  [[nodiscard]] Place place(double p) const {
    const double x = p * static_cast<double>(bin_count_) - 0.5;
    const int below = x < 0.0 ? -1 : static_cast<int>(x);
    const int last = static_cast<int>(bin_count_) - 1;
    return {static_cast<std::size_t>(std::max(0, below)), static_cast<std::size_t>(std::min(last, below + 1)), x - below};
  }

  // The pool's factor by output bin, interpolated between bin centres.
  [[nodiscard]] double recalibration(double p) const {
    const Place at = place(p);
    const auto of_both = [&](const std::vector<double>& bins) { return Pair{bins[at.lower], bins[at.upper]}; };
    const Pair prior = of_both(bin_prior_);
    const Pair factors = (of_both(bin_outcome_) + prior) / (of_both(bin_predicted_) + prior);
    return (1.0 - at.share) * factors[0] + at.share * factors[1];
  }
  void recalibrate(double earned, double outcome, double weight) {
    for (double& x : bin_outcome_) x *= recalibration_keep_;
    for (double& x : bin_predicted_) x *= recalibration_keep_;
    const auto bin = static_cast<std::size_t>(band_of(earned, static_cast<int>(bin_count_)));
    bin_outcome_[bin] += weight * outcome;
    bin_predicted_[bin] += weight * earned;
  }

  // Integral control: the residual a bin has collected is its correction divided by the step, so it cannot pile up unanswered.
  void steer(double p, double residual, double per_task) {
    const Place at = place(p);
    const double step = steering_ / std::max(steering_responses_, 1.0 + per_task);
    bin_steer_[at.lower] += step * (1.0 - at.share) * residual;
    bin_steer_[at.upper] += step * at.share * residual;
  }

  const double resolution_prior_;
  const double resolution_start_;
  const double resolution_tasks_;
  const double recalibration_tasks_;
  const double steering_;
  const double steering_responses_;  // since version 3: in small pools a faster step costs more than it corrects
  const std::size_t bin_count_;
  std::vector<double> bin_prior_;
  double resolution_keep_ = 1.0;
  double recalibration_keep_ = 1.0;

  double spread_ = 0.0;     // decayed sum of d * d, d = mixture - plain accuracy
  double agreement_ = 0.0;  // decayed sum of d * (outcome - plain accuracy)
  std::vector<double> bin_outcome_;
  std::vector<double> bin_predicted_;
  std::vector<double> bin_steer_;
};

}  // namespace margin::internal
