// ConfidenceRanks: where a confidence ranks among those that its model has lately stated. What margin cuts into bands where edges =
// quantile.
#pragma once

#include <array>
#include <vector>

#include "base/encoding.h"
#include "calibrate/rate.h"
#include "margin/calibrator.h"

namespace margin::internal {

// Per model an exponentially averaged histogram of whole percents, in which 1 stands alone: what people and models state falls on one cell
// each, so a confidence that is stated again and again is never cut in two by an edge that trembles.
class ConfidenceRanks {
 public:
  static constexpr std::size_t kCells = 101;
  static constexpr std::size_t kSavedBytesPerModel = (kCells + 1) * sizeof(double);

  void make_room(std::size_t models) { ranks_.resize(models); }
  // All confidences alike, so that ranks are the confidences themselves to a percent.
  void start(ModelId model) {
    ranks_[model].mass.fill(1.0 / kCells);
    ranks_[model].count = 0.0;
  }
  void start_as(ModelId model, const ConfidenceRanks& donor, ModelId donor_model) { ranks_[model] = donor.ranks_[donor_model]; }

  // The share of what was stated below, and half of what was stated alike; in [0, 1] up to rounding.
  [[nodiscard]] double rank(ModelId model, double confidence) const {
    const auto& mass = ranks_[model].mass;
    const std::size_t own = cell(confidence);
    double below = 0.0;
    for (std::size_t i = 0; i < own; ++i) below += mass[i];
    return below + 0.5 * mass[own];
  }

  void learn(ModelId model, double confidence, double weight) {
    Ranks& ranks = ranks_[model];
    ranks.count += weight;
    const double rate = weight * settling_rate(kRate, kPrior, ranks.count);
    for (double& mass : ranks.mass) mass *= 1.0 - rate;
    ranks.mass[cell(confidence)] += rate;
  }

  void save(Encoder& out) const {
    for (const Ranks& ranks : ranks_) {
      for (const double mass : ranks.mass) out.real(mass);
      out.real(ranks.count);
    }
  }
  void load(Decoder& in) {
    for (Ranks& ranks : ranks_) {
      for (double& mass : ranks.mass) {
        mass = in.real();
        if (!(mass >= 0.0 && mass < 2.0)) in.fail();
      }
      ranks.count = in.real();
      if (!(ranks.count >= 0.0 && ranks.count < 1e18)) in.fail();
    }
  }

 private:
  static constexpr double kRate = 0.01;   // the last hundred confidences or so
  static constexpr double kPrior = 10.0;  // observations that the start is worth

  struct Ranks {
    std::array<double, kCells> mass{};  // sums to 1 once started
    double count = 0.0;
  };

  [[nodiscard]] static std::size_t cell(double confidence) { return static_cast<std::size_t>(confidence * 100.0); }

  std::vector<Ranks> ranks_;  // by model
};

}  // namespace margin::internal
