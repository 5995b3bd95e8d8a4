// Scores: the metrics of one pass, and their mean and spread over many.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/replay.h"
#include "experiment/stream.h"
#include "margin/metric.h"
#include "margin/selection_metric.h"

namespace margin::experiment {

enum Metric : std::size_t { kEce, kEcePerModel, kBrier, kLogLoss, kPass1, kResolution, kMetrics };
inline constexpr std::array<std::string_view, kMetrics> kMetricNames = {"ece", "ece_per_model", "brier", "log_loss", "pass1", "resolution"};

// Fractions; nullopt where the metric is undefined (nothing graded, nothing voted, no contest).
using Scores = std::array<std::optional<double>, kMetrics>;

// Of graded rows alone, models[r] being that of row r: nothing is selected or contested.
[[nodiscard]] Scores score_rows(Predictions rows, std::span<const ModelId> models);

// Over the rows whose outcome is known.
[[nodiscard]] Scores score(const Stream& stream, const Pass& pass, const ResolutionRules& rules = {});

// A part of a stream to be scored by itself: the rows of a model, or the tasks of a phase.
struct Part {
  std::string name;
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> tasks;  // whole ones; without any, nothing is selected or contested
};
[[nodiscard]] Scores score(const Stream& stream, const Pass& pass, const ResolutionRules& rules, const Part& part);

// Over the values that are defined.
struct Spread {
  std::optional<double> mean;
  std::optional<double> sd;  // with n-1; nullopt below two
  std::optional<double> low, high;
};
[[nodiscard]] Spread spread_of(std::span<const std::optional<double>> values);

// The spread of each metric over passes.
struct ScoreSummary {
  Scores mean;
  Scores sd;
};
[[nodiscard]] ScoreSummary summarize(std::span<const Scores> passes);

}  // namespace margin::experiment
