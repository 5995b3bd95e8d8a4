#include "margin/decision.h"

#include <algorithm>
#include <cmath>

#include "base/beta.h"
#include "base/check.h"
#include "margin/math.h"

namespace margin {
namespace {

constexpr ModelId kPool = 0;  // the only model of its calibrator
constexpr double kTail = 0.05;

// Page's test on outcomes minus promises: a change of half a standard deviation is looked for, and an alarm is raised about once in some
// thousand decisions by chance.
constexpr double kDriftSlack = 0.25;
constexpr double kDriftLimit = 16.0;

}  // namespace

std::string_view name_of(TrustStatus status) {
  constexpr std::string_view kNames[] = {"cold", "drifting", "stale", "calibrated"};
  return kNames[static_cast<std::size_t>(status)];
}

DecisionTrust::DecisionTrust(std::unique_ptr<Calibrator> calibrator) : calibrator_(std::move(calibrator)), since_alarm_(kDriftFor) {
  calibrator_->join(kPool);
}

Result<DecisionTrust> DecisionTrust::make(std::string_view calibrator, const Parameters& parameters) {
  Result<std::unique_ptr<Calibrator>> made = make_calibrator(calibrator, parameters);
  if (!made) return made.error();
  if ((*made)->info().design_time) {
    return Error{ErrorCode::kUnsupported, std::string(calibrator) + " does not learn online, so it cannot follow a pool's decisions"};
  }
  return DecisionTrust(std::move(*made));
}

Sureness DecisionTrust::of(double share) const {
  const double p = calibrator_->calibrate(kPool, share);
  const double n = history_[static_cast<std::size_t>(band_of(share, kBins))].effective_n();
  // Jeffreys' prior keeps the interval proper where p is 0 or 1, or nothing is known.
  const double a = p * n + 0.5;
  const double b = (1.0 - p) * n + 0.5;
  Sureness sure{.p_correct = p,
                .low = std::min(p, internal::beta_quantile(a, b, kTail)),
                .high = std::max(p, internal::beta_quantile(a, b, 1.0 - kTail)),
                .effective_n = n,
                .status = TrustStatus::kCalibrated};
  if (cold()) {
    sure.status = TrustStatus::kCold;
  } else if (since_alarm_ < kDriftFor) {
    sure.status = TrustStatus::kDrifting;
  } else if (since_outcome_ >= kStaleAfter) {
    sure.status = TrustStatus::kStale;
  }
  return sure;
}

bool DecisionTrust::cold() const {
  double outcomes = 0.0;
  for (const History& bin : history_) outcomes += bin.weights;
  return outcomes < kColdBelow;
}

void DecisionTrust::decided() {
  if (since_outcome_ < kStaleAfter) ++since_outcome_;
}

Status DecisionTrust::observe(const DecisionOutcome& outcome) {
  const auto in_range = [](double x) { return x >= 0.0 && x <= 1.0; };
  if (!in_range(outcome.share)) return {ErrorCode::kInvalidArgument, "share: expected a number in [0, 1]"};
  const double promised = clip(calibrator_->calibrate(kPool, outcome.share), 0.02, 0.98);
  calibrator_->begin_task();
  Status learned =
      calibrator_->observe({.model = kPool, .confidence = outcome.share, .outcome = outcome.outcome, .weight = outcome.weight});
  calibrator_->end_task();
  if (!learned) return learned;

  // While cold, promises are mostly prior: that they fail is no news.
  const double z = outcome.weight * (outcome.outcome - promised) / std::sqrt(promised * (1.0 - promised));
  surplus_ = cold() ? 0.0 : std::max(0.0, surplus_ + z - kDriftSlack);
  deficit_ = cold() ? 0.0 : std::max(0.0, deficit_ - z - kDriftSlack);
  since_alarm_ = std::min(kDriftFor, since_alarm_ + 1);
  if (surplus_ > kDriftLimit || deficit_ > kDriftLimit) {
    surplus_ = deficit_ = 0.0;
    since_alarm_ = 0;
  }
  const double kept = 1.0 - outcome.weight / kMemory;
  for (History& bin : history_) {
    bin.weights *= kept;
    bin.squares *= kept * kept;
  }
  History& own = history_[static_cast<std::size_t>(band_of(outcome.share, kBins))];
  own.weights += outcome.weight;
  own.squares += outcome.weight * outcome.weight;
  since_outcome_ = 0;
  return {};
}

}  // namespace margin
