#include "service/score_sums.h"

#include <algorithm>
#include <cmath>

#include "margin/calibrator.h"

namespace margin::service {

void ScoreSums::count_in(const Scored& scored, double sign) {
  count_ += sign > 0 ? std::size_t{1} : ~std::size_t{0};
  const std::array<double, 2> confidences = {scored.stated, scored.calibrated};
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    const double confidence = confidences[stage];
    ReliabilityBin& bin = stages_[stage].bins[static_cast<std::size_t>(band_of(confidence, kBins))];
    bin.count += sign > 0 ? 1U : ~0U;
    bin.confidence += sign * confidence;
    bin.outcome += sign * scored.outcome;
    stages_[stage].squares += sign * (confidence - scored.outcome) * (confidence - scored.outcome);
  }
}

void ScoreSums::add(const ScoreSums& other) {
  count_ += other.count_;
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    stages_[stage].squares += other.stages_[stage].squares;
    for (std::size_t i = 0; i < kBins; ++i) {
      ReliabilityBin& bin = stages_[stage].bins[i];
      const ReliabilityBin& more = other.stages_[stage].bins[i];
      bin.count += more.count;
      bin.confidence += more.confidence;
      bin.outcome += more.outcome;
    }
  }
}

double ScoreSums::ece(Stage stage) const {
  if (count_ == 0) return 0.0;
  double sum = 0.0;
  for (const ReliabilityBin& bin : bins(stage)) sum += std::fabs(bin.confidence - bin.outcome);
  return sum / static_cast<double>(count_);
}

double ScoreSums::brier(Stage stage) const {
  return count_ == 0 ? 0.0 : std::max(0.0, stages_[static_cast<std::size_t>(stage)].squares) / static_cast<double>(count_);
}

double ScoreSums::accuracy() const {
  if (count_ == 0) return 0.0;
  double sum = 0.0;
  for (const ReliabilityBin& bin : bins(Stage::kStated)) sum += bin.outcome;
  return sum / static_cast<double>(count_);
}

double ScoreSums::mean_confidence(Stage stage) const {
  if (count_ == 0) return 0.0;
  double sum = 0.0;
  for (const ReliabilityBin& bin : bins(stage)) sum += bin.confidence;
  return sum / static_cast<double>(count_);
}

}  // namespace margin::service
