// ScoreSums: what is summed over outcomes to say how well they were calibrated, stated beside calibrated. Sums add, so windows of any kind
// are made of them (ScoreWindow: the latest outcomes; TimedScores: those of the last hour or day).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace margin::service {

struct Scored {
  double stated = 0.0;
  double calibrated = 0.0;
  double outcome = 0.0;
};

// One bin of a reliability diagram.
struct ReliabilityBin {
  std::uint32_t count = 0;
  double confidence = 0.0;  // sums
  double outcome = 0.0;
};

class ScoreSums {
 public:
  static constexpr int kBins = 10;
  enum class Stage : std::uint8_t { kStated, kCalibrated };
  using Bins = std::array<ReliabilityBin, kBins>;

  void add(const Scored& scored) { count_in(scored, 1.0); }
  // Takes out what was added before.
  void remove(const Scored& scored) { count_in(scored, -1.0); }
  void add(const ScoreSums& other);

  [[nodiscard]] std::size_t count() const { return count_; }
  // 0 while it is empty.
  [[nodiscard]] double ece(Stage stage) const;
  [[nodiscard]] double brier(Stage stage) const;
  [[nodiscard]] double accuracy() const;
  [[nodiscard]] double mean_confidence(Stage stage) const;
  [[nodiscard]] const Bins& bins(Stage stage) const { return stages_[static_cast<std::size_t>(stage)].bins; }

 private:
  struct OfStage {
    Bins bins{};
    double squares = 0.0;
  };
  void count_in(const Scored& scored, double sign);

  std::size_t count_ = 0;
  std::array<OfStage, 2> stages_{};
};

}  // namespace margin::service
