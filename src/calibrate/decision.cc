#include "margin/decision.h"

#include <algorithm>
#include <cmath>

#include "base/beta.h"
#include "base/encoding.h"
#include "calibrate/rate.h"
#include "margin/math.h"

namespace margin {
namespace {

constexpr ModelId kPool = 0;  // the only model of its calibrator
constexpr double kTail = 0.05;
constexpr std::uint32_t kSnapshotFormat = 0x4d445431;  // "MDT1"
constexpr double kRounding = 1e-9;                     // what rounding may add to a decayed sum

// What the interval rests on where the calibrator fits a line over all shares (margin_adaptive since version 3): outcomes of other bins
// count too, and those of its own less than one each, because the estimate goes on moving.
constexpr double kOwnBin = 0.5;
constexpr double kAllBins = 0.18;
bool learns_across_bins(const CalibratorInfo& info) { return info.identifier == "margin_adaptive" && info.version >= 3; }

// Page's test on outcomes minus promises: a change of half a standard deviation is looked for, and an alarm is raised about once in some
// thousand decisions by chance.
constexpr double kDriftSlack = 0.25;
constexpr double kDriftLimit = 16.0;

}  // namespace

Result<DecisionTrust> DecisionTrust::begin(Result<std::unique_ptr<Calibrator>> made) {
  if (!made) return made.error();
  if ((*made)->info().design_time) {
    return Error{ErrorCode::kUnsupported, (*made)->info().identifier + " does not learn online, so it cannot follow a pool's decisions"};
  }
  (*made)->join(kPool);
  return DecisionTrust(std::move(*made));
}

Result<DecisionTrust> DecisionTrust::make(std::string_view calibrator, const Parameters& parameters) {
  return begin(make_calibrator(calibrator, parameters));
}

Result<DecisionTrust> DecisionTrust::make(std::string_view calibrator, int version, const Parameters& parameters) {
  return begin(make_calibrator(calibrator, version, parameters));
}

double DecisionTrust::p_correct(double share) const { return calibrator_->calibrate(kPool, share); }

Sureness DecisionTrust::of(double share) const {
  const double p = p_correct(share);
  const double n = history_[static_cast<std::size_t>(band_of(share, kBins))].effective_n();
  const double worth = learns_across_bins(calibrator_->info()) ? kOwnBin * n + kAllBins * effective_n_of_all() : n;
  // Jeffreys' prior keeps the interval proper where p is 0 or 1, or nothing is known.
  const internal::Beta chance(p * worth + 0.5, (1.0 - p) * worth + 0.5);
  const internal::Pair ends = chance.quantiles(internal::Pair{kTail, 1.0 - kTail});
  return {.p_correct = p, .low = std::min(p, ends[0]), .high = std::max(p, ends[1]), .effective_n = n, .status = status()};
}

TrustStatus DecisionTrust::status() const {
  if (cold()) return TrustStatus::kCold;
  if (since_alarm_ < kDriftFor) return TrustStatus::kDrifting;
  return since_outcome_ >= kStaleAfter ? TrustStatus::kStale : TrustStatus::kCalibrated;
}

double DecisionTrust::outcomes() const {
  double outcomes = 0.0;
  for (const History& bin : history_) outcomes += bin.weights;
  return outcomes;
}

double DecisionTrust::effective_n_of_all() const {
  double n = 0.0;
  for (const History& bin : history_) n += bin.effective_n();
  return n;
}

void DecisionTrust::prepare() { calibrator_->prepare(kPool); }

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
    if (bin.weights < internal::kFaded) bin = History();
  }
  History& own = history_[static_cast<std::size_t>(band_of(outcome.share, kBins))];
  own.weights += outcome.weight;
  own.squares += outcome.weight * outcome.weight;
  since_outcome_ = 0;
  return {};
}

std::string DecisionTrust::snapshot() const {
  internal::Encoder out;
  out.integer(kSnapshotFormat);
  out.text(calibrator_->snapshot());
  for (const History& bin : history_) {
    out.real(bin.weights);
    out.real(bin.squares);
  }
  out.real(surplus_);
  out.real(deficit_);
  out.integer(since_outcome_);
  out.integer(since_alarm_);
  return out.take();
}

void DecisionTrust::load(internal::Decoder& in) {
  for (History& bin : history_) {
    bin.weights = in.real();
    bin.squares = in.real();
    // Weights are at most 1 and fade less than their squares; the square of a sum is no less than the sum of squares.
    if (!(bin.weights >= 0.0 && bin.squares >= 0.0 && bin.squares <= bin.weights)) in.fail();
    if (bin.squares > bin.weights * bin.weights * (1.0 + kRounding) || (bin.squares == 0.0 && bin.weights > 0.0)) in.fail();
  }
  surplus_ = in.real();
  deficit_ = in.real();
  since_outcome_ = in.integer<std::uint32_t>();
  since_alarm_ = in.integer<std::uint32_t>();
  const auto is_sum = [&](double sum) { return sum >= 0.0 && sum <= (cold() ? 0.0 : kDriftLimit); };
  if (outcomes() > kMemory * (1.0 + kRounding) || !is_sum(surplus_) || !is_sum(deficit_)) in.fail();
  if (since_outcome_ > kStaleAfter || since_alarm_ > kDriftFor) in.fail();
}

Result<DecisionTrust> DecisionTrust::restore(std::string_view bytes) {
  const Error corrupt{ErrorCode::kCorrupt, "decision trust: the bytes are truncated or not a snapshot of it"};
  internal::Decoder in(bytes);
  if (in.integer<std::uint32_t>() != kSnapshotFormat) return corrupt;
  auto calibrator = restore_calibrator(in.text());
  if (!in.ok()) return corrupt;
  if (!calibrator) return calibrator.error();
  const Calibrator& own = **calibrator;
  if (own.info().design_time || !own.present(kPool) || own.known(kPool + 1)) return corrupt;
  DecisionTrust trust(std::move(*calibrator));
  trust.load(in);
  if (Status status = in.finish("decision trust"); !status) return status.error();
  return trust;
}

}  // namespace margin
