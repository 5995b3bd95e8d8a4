#include "service/score_window.h"

#include <algorithm>
#include <cmath>

#include "margin/calibrator.h"

namespace margin::service {

void ScoreWindow::count_in(const Scored& scored, double sign) {
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

// Sums that only ever gained and lost would collect rounding errors; once per round they are made anew.
void ScoreWindow::recount() {
  stages_ = {};
  for (const Scored& scored : rows_) count_in(scored, 1.0);
}

void ScoreWindow::add(const Scored& scored) {
  ++total_;
  if (rows_.size() < kWindow) {
    rows_.push_back(scored);
    count_in(scored, 1.0);
    return;
  }
  count_in(rows_[next_], -1.0);
  rows_[next_] = scored;
  count_in(scored, 1.0);
  next_ = (next_ + 1) % kWindow;
  if (next_ == 0) recount();
}

double ScoreWindow::ece(Stage stage) const {
  if (rows_.empty()) return 0.0;
  double sum = 0.0;
  for (const ReliabilityBin& bin : bins(stage)) sum += std::fabs(bin.confidence - bin.outcome);
  return sum / static_cast<double>(rows_.size());
}

double ScoreWindow::brier(Stage stage) const {
  return rows_.empty() ? 0.0 : std::max(0.0, stages_[static_cast<std::size_t>(stage)].squares) / static_cast<double>(rows_.size());
}

double ScoreWindow::accuracy() const {
  if (rows_.empty()) return 0.0;
  double sum = 0.0;
  for (const ReliabilityBin& bin : bins(Stage::kStated)) sum += bin.outcome;
  return sum / static_cast<double>(rows_.size());
}

double ScoreWindow::mean_confidence(Stage stage) const {
  if (rows_.empty()) return 0.0;
  double sum = 0.0;
  for (const ReliabilityBin& bin : bins(stage)) sum += bin.confidence;
  return sum / static_cast<double>(rows_.size());
}

}  // namespace margin::service
