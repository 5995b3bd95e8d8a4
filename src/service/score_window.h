// ScoreWindow: how well the latest outcomes were calibrated. Constant time per outcome, bounded memory; what /metrics and the dashboard
// read, so nothing is scanned when they ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "service/score_sums.h"

namespace margin::service {

class ScoreWindow {
 public:
  static constexpr std::size_t kWindow = 1000;
  static constexpr int kBins = ScoreSums::kBins;
  using Stage = ScoreSums::Stage;

  void add(const Scored& scored);

  [[nodiscard]] std::size_t count() const { return rows_.size(); }
  [[nodiscard]] std::uint64_t total() const { return total_; }  // ever added
  [[nodiscard]] const ScoreSums& sums() const { return sums_; }
  // Of the window; 0 while it is empty.
  [[nodiscard]] double ece(Stage stage) const { return sums_.ece(stage); }
  [[nodiscard]] double brier(Stage stage) const { return sums_.brier(stage); }
  [[nodiscard]] double accuracy() const { return sums_.accuracy(); }
  [[nodiscard]] double mean_confidence(Stage stage) const { return sums_.mean_confidence(stage); }

 private:
  void recount();

  std::vector<Scored> rows_;  // a ring once full
  std::size_t next_ = 0;
  std::uint64_t total_ = 0;
  ScoreSums sums_;
};

}  // namespace margin::service
