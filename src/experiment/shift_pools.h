// Shift in pools of other sizes: the same conditions with some of their models alone, and the results gathered by size. Many conditions
// pass through here, so of each only what the tables need is kept. What `margin experiment shift --pools` is made of.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/shift.h"

namespace margin::experiment {

// Subsets of the models that both source and target know. size 0: all of them together. size 1: each alone. Else `subsets` different
// random ones, or as many as there are. Empty when the pool is smaller than `size`.
[[nodiscard]] std::vector<std::vector<ModelId>> pools_of(const Condition& condition, std::size_t size, std::size_t subsets,
                                                         std::uint64_t seed);
// "Pools of 3"; 0 is all models.
[[nodiscard]] std::string pool_name(std::size_t size);
// The condition as if the others had never answered. Model ids stay as they are.
[[nodiscard]] Condition with_models(const Condition& condition, std::span<const ModelId> models);

// All conditions of one pool size.
class ShiftGroup {
 public:
  ShiftGroup(std::string name, std::string focus) : name_(std::move(name)), focus_(std::move(focus)) {}

  // Entrants as in every other result. kNotFound: the focus is not among them.
  Status add(const ConditionResult& result);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t conditions() const { return conditions_; }
  [[nodiscard]] std::vector<std::string> entrants() const;
  // Mean over the conditions.
  [[nodiscard]] double mean(std::size_t entrant, Compared metric) const;
  [[nodiscard]] ComparisonTable comparisons(Compared metric) const { return tabulate(comparisons_[index(metric)]); }

  // The focus beside the other entrant with the lowest mean.
  struct Contest {
    std::string rival;
    double mean = 0.0;  // ours - rival's
    // As wide as the resamples vary, around the mean itself: resampling adds noise to every bin, which inflates ECE, and more so where
    // predictions are spread over many bins.
    std::optional<Interval> interval;
  };
  [[nodiscard]] Contest against_best(Compared metric) const;

 private:
  static constexpr std::size_t kMetricCount = 3;
  static std::size_t index(Compared metric) { return static_cast<std::size_t>(metric); }
  struct Entry {
    std::string label;
    std::array<double, kMetricCount> sum{};
    std::array<std::vector<double>, kMetricCount> resampled;  // sums over conditions, resample by resample
  };

  std::string name_;
  std::string focus_;
  std::size_t conditions_ = 0;
  std::vector<Entry> entries_;
  std::array<std::vector<Comparison>, kMetricCount> comparisons_;
};

}  // namespace margin::experiment
