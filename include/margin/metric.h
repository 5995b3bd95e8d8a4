// Metrics of probabilities against outcomes: calibration, scores, ranking, abstention. docs/metrics.md has every formula.
// Used by replays, experiments, reports and the server's calibration page.
//
//   const std::vector<double> p = {0.9, 0.6, 0.2}, o = {1.0, 0.0, 0.0};
//   std::optional<double> error = margin::ece({p, o});
//
// Pure functions. What is undefined (no rows, one class) is nullopt, never NaN. No result depends on the order of the rows, except
// that ece_band() draws in row order. Probabilities and outcomes must lie in [0, 1] and their spans be of one length; otherwise the
// program stops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "margin/calibrator.h"

namespace margin {

// Rows: the probability that was stated for each response, and what came of it (fractions for graded tasks). A view; owns nothing.
struct Predictions {
  std::span<const double> probabilities;
  std::span<const double> outcomes;

  [[nodiscard]] std::size_t size() const { return probabilities.size(); }
};

// The rows of one model, in their order.
struct ModelPredictions {
  ModelId model = 0;
  std::vector<double> probabilities;
  std::vector<double> outcomes;

  [[nodiscard]] Predictions view() const { return {probabilities, outcomes}; }
};

// models[r] is the model of row r. By rising id; a model without rows does not appear. Every metric per model is the metric of a view().
[[nodiscard]] std::vector<ModelPredictions> split_by_model(Predictions rows, std::span<const ModelId> models);

inline constexpr int kMetricBins = 10;

// Expected calibration error over equal-width bins, all models together: sum over bins of |sum o - sum p|, divided by the rows.
[[nodiscard]] std::optional<double> ece(Predictions rows, int bins = kMetricBins);
// The plain mean of the models' own ECEs.
[[nodiscard]] std::optional<double> ece_per_model(Predictions rows, std::span<const ModelId> models, int bins = kMetricBins);
// ECE over bins of equal size: cut at the empirical quantiles of p. Equal probabilities stay in one bin, so ties make bins unequal.
[[nodiscard]] std::optional<double> equal_mass_ece(Predictions rows, int bins = kMetricBins);

// The calibration error without the part that chance alone adds.
struct DebiasedEce {
  double squared = 0.0;           // unbiased estimate of the mean squared bin error; below 0 by chance when there is none
  double root_mean_square = 0.0;  // sqrt(max(0, squared)), on the scale of ECE and, errors being equal, not below it
};
// Bias-corrected plug-in estimate of Kumar, Liang and Ma (2019), over equal-width bins. A bin of one row says nothing of its own noise
// and is left out; nullopt when no bin has two.
[[nodiscard]] std::optional<DebiasedEce> debiased_ece(Predictions rows, int bins = kMetricBins);

// SmoothECE of Blasiok and Nakkiran (2023): bins replaced by a reflected Gaussian kernel whose bandwidth equals the error it finds.
[[nodiscard]] std::optional<double> smooth_ece(Predictions rows);
// The same at a given bandwidth in [kSmoothBandwidthMin, 1].
[[nodiscard]] std::optional<double> smooth_ece_at(Predictions rows, double bandwidth);
// Narrower kernels are not tried: below this an error is reported as found with this bandwidth.
inline constexpr double kSmoothBandwidthMin = 1.0 / 1024;

// What ECE a perfect forecaster with these very probabilities would show: outcomes drawn as Bernoulli(p).
struct EceBand {
  double low = 0.0;  // 2.5% quantile
  double mean = 0.0;
  double high = 0.0;  // 97.5% quantile
};
struct EceBandOptions {
  int bins = kMetricBins;
  int simulations = 1000;
  std::uint64_t seed = 1;
};
[[nodiscard]] std::optional<EceBand> ece_band(std::span<const double> probabilities, const EceBandOptions& options = {});

// Mean squared error, in [0, 1].
[[nodiscard]] std::optional<double> brier(Predictions rows);

// brier == reliability - resolution + uncertainty + within_variance - within_covariance (up to rounding). The last two are what binning
// hides: with one distinct probability per bin both are 0 and the classic three terms remain.
struct BrierParts {
  double brier = 0.0;
  double reliability = 0.0;        // mean squared distance of a bin's mean p from its mean o; 0 is best
  double resolution = 0.0;         // variance of the bins' mean o
  double uncertainty = 0.0;        // variance of o; mean*(1-mean) when outcomes are 0 or 1
  double within_variance = 0.0;    // variance of p inside the bins
  double within_covariance = 0.0;  // twice the covariance of p and o inside the bins
};
[[nodiscard]] std::optional<BrierParts> brier_parts(Predictions rows, int bins = kMetricBins);

// Mean of -(o ln p + (1-o) ln(1-p)), with p clipped to [kLogLossClip, 1-kLogLossClip].
[[nodiscard]] std::optional<double> log_loss(Predictions rows);
inline constexpr double kLogLossClip = 1e-6;

// The chance that a right response has the larger probability than a wrong one, ties half. A row with outcome o counts as o right
// and 1-o wrong responses. nullopt without anything right or without anything wrong.
[[nodiscard]] std::optional<double> auroc(Predictions rows);

// Variance of the probabilities (population): how far the forecaster dares to go from its mean.
[[nodiscard]] std::optional<double> sharpness(std::span<const double> probabilities);

struct Interval {
  double low = 0.0;
  double high = 0.0;
};
// Wilson's 95% score interval of a mean outcome over `count` > 0 rows. For fractional outcomes it is wider than need be, since their
// variance is below mean*(1-mean).
[[nodiscard]] Interval wilson_interval(double mean, std::size_t count);

// One bin of a reliability diagram: [low, high), the last one closed.
struct ReliabilityBin {
  double low = 0.0;
  double high = 0.0;
  std::size_t count = 0;
  // Of the rows inside; all 0 when there are none.
  double mean_probability = 0.0;
  double mean_outcome = 0.0;
  double outcome_low = 0.0;  // 95% Wilson interval of the mean outcome
  double outcome_high = 0.0;
};
// Always `bins` entries.
[[nodiscard]] std::vector<ReliabilityBin> reliability_table(Predictions rows, int bins = kMetricBins);

// Answering only above a threshold: the share answered and the error among those.
struct RiskPoint {
  double threshold = 0.0;  // rows with at least this probability are answered
  double coverage = 0.0;   // in (0, 1]
  double risk = 0.0;       // mean of 1-o over the rows answered
};
struct RiskCoverage {
  std::vector<RiskPoint> curve;  // by falling threshold, one point per distinct probability
  double area = 0.0;             // mean risk over the coverages 1/N .. N/N; equal probabilities enter in random order, in expectation
};
[[nodiscard]] std::optional<RiskCoverage> risk_coverage(Predictions rows);

}  // namespace margin
