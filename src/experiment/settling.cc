// How many outcomes calibration needs before it is as good as it gets on a log.
#include <algorithm>
#include <array>
#include <cmath>

#include "experiment/doctor.h"

namespace margin::experiment {
namespace {

constexpr std::size_t kFirstStage = 10;  // outcomes; each further stage begins at the double

// Sums behind an ECE.
struct Bins {
  std::array<double, kMetricBins> excess{};  // sum of p - o
  std::size_t rows = 0;

  void add(double p, double o) {
    const auto bin = std::min(static_cast<std::size_t>(kMetricBins - 1), static_cast<std::size_t>(p * kMetricBins));
    excess[bin] += p - o;
    ++rows;
  }
  Bins& operator+=(const Bins& other) {
    for (std::size_t bin = 0; bin < excess.size(); ++bin) excess[bin] += other.excess[bin];
    rows += other.rows;
    return *this;
  }
  [[nodiscard]] double ece() const {
    double sum = 0.0;
    for (const double one : excess) sum += std::fabs(one);
    return rows == 0 ? 0.0 : sum / static_cast<double>(rows);
  }
};

// Where stages begin: 0, 10, 20, 40, ... The last one begins before half of what the median model has, so that it is well filled.
std::vector<std::size_t> stage_starts(const Stream& stream) {
  std::vector<std::size_t> outcomes(stream.models.size());
  for (std::size_t row = 0; row < stream.rows(); ++row) {
    if (!std::isnan(stream.outcome[row])) ++outcomes[stream.model[row]];
  }
  std::erase(outcomes, 0U);
  if (outcomes.empty()) return {};
  std::sort(outcomes.begin(), outcomes.end());
  const std::size_t last_max = outcomes[outcomes.size() / 2] / 2;
  std::vector<std::size_t> starts = {0};
  for (std::size_t start = kFirstStage; start <= last_max; start *= 2) starts.push_back(start);
  return starts;
}

}  // namespace

std::optional<Settling> measure_settling(const Stream& stream, const Calibrator& method, const Vote& vote, const DoctorOptions& options,
                                         Progress* progress) {
  const std::vector<std::size_t> starts = stage_starts(stream);
  Stream mixed = stream;
  for (Stream::Task& task : mixed.tasks) task.phase = 0;
  PassesOptions passes = options.passes;
  passes.orderings = static_cast<std::uint32_t>(options.settle_passes);
  std::vector<std::vector<Bins>> by_pass(passes.passes(), std::vector<Bins>(starts.size()));
  const bool finished = for_each_pass(mixed, method, vote, passes, progress, [&](std::size_t number, const Pass& pass) {
    std::vector<std::size_t> learned(mixed.models.size());
    for (const std::uint32_t index : order_of_pass(mixed, passes, number)) {
      const Stream::Task& task = mixed.tasks[index];
      // A model responds once to a task, so what it learns here is seen only by later tasks.
      for (std::size_t row = task.first_row; row < std::size_t{task.first_row} + task.rows; ++row) {
        if (std::isnan(mixed.outcome[row])) continue;
        std::size_t& outcomes = learned[mixed.model[row]];
        const auto stage = std::upper_bound(starts.begin(), starts.end(), outcomes) - starts.begin() - 1;
        by_pass[number][static_cast<std::size_t>(stage)].add(pass.calibrated[row], mixed.outcome[row]);
        ++outcomes;
      }
    }
  });
  if (!finished) return std::nullopt;
  Settling settling;
  if (starts.size() < 3) return settling;
  for (std::size_t stage = 0; stage < starts.size(); ++stage) {
    Bins sum;
    for (const std::vector<Bins>& one : by_pass) sum += one[stage];
    settling.stages.push_back({.outcomes = starts[stage], .rows = sum.rows, .ece = sum.ece()});
  }
  const double settled = settling.stages.back().ece + Settling::kTolerance;
  for (auto stage = settling.stages.rbegin(); stage != settling.stages.rend() && stage->ece <= settled; ++stage) {
    settling.settled_at = stage->outcomes;
  }
  return settling;
}

}  // namespace margin::experiment
