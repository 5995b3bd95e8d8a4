// ScoreWindow: how well the latest outcomes were calibrated, stated beside calibrated. Constant time per outcome, bounded memory; what
// /metrics and the dashboard read, so nothing is scanned when they ask.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

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

class ScoreWindow {
 public:
  static constexpr std::size_t kWindow = 1000;
  static constexpr int kBins = 10;
  enum class Stage : std::uint8_t { kStated, kCalibrated };
  using Bins = std::array<ReliabilityBin, kBins>;

  void add(const Scored& scored);

  [[nodiscard]] std::size_t count() const { return rows_.size(); }
  [[nodiscard]] std::uint64_t total() const { return total_; }  // ever added
  // Of the window; 0 while it is empty.
  [[nodiscard]] double ece(Stage stage) const;
  [[nodiscard]] double brier(Stage stage) const;
  [[nodiscard]] double accuracy() const;
  [[nodiscard]] double mean_confidence(Stage stage) const;
  [[nodiscard]] const Bins& bins(Stage stage) const { return stages_[static_cast<std::size_t>(stage)].bins; }

 private:
  struct Sums {
    Bins bins{};
    double squares = 0.0;
  };
  void count_in(const Scored& scored, double sign);
  void recount();

  std::vector<Scored> rows_;  // a ring once full
  std::size_t next_ = 0;
  std::uint64_t total_ = 0;
  std::array<Sums, 2> stages_{};
};

}  // namespace margin::service
