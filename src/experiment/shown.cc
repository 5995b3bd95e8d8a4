#include "experiment/shown.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"

namespace margin::experiment {
namespace {

using report::Best;
using report::Kind;

constexpr std::array<ShownMetric, kMetrics> kShownMetrics = {{{kEce, "ECE", Kind::kPercent, Best::kLowest},
                                                              {kEcePerModel, "ECE per model", Kind::kPercent, Best::kLowest},
                                                              {kBrier, "Brier score", Kind::kNumber, Best::kLowest},
                                                              {kLogLoss, "log loss", Kind::kNumber, Best::kLowest},
                                                              {kPass1, "pass@1", Kind::kPercent, Best::kHighest},
                                                              {kResolution, "resolution", Kind::kPercent, Best::kHighest}}};

const Resampled* resampled(const EntrantResult& entrant, Metric metric) {
  switch (metric) {
    case kEce: return &entrant.ece;
    case kBrier: return &entrant.brier;
    case kLogLoss: return &entrant.log_loss;
    case kPass1: return &entrant.pass1;
    default: return nullptr;
  }
}

}  // namespace

const ShownMetric& shown(Metric metric) { return kShownMetrics[metric]; }

Result<Metric> parse_metric(std::string_view name) {
  const auto* const found = std::find(kMetricNames.begin(), kMetricNames.end(), name);
  if (found != kMetricNames.end()) return static_cast<Metric>(found - kMetricNames.begin());
  const std::vector<std::string> known(kMetricNames.begin(), kMetricNames.end());
  return Error{ErrorCode::kNotFound, "metric: no " + internal::printable(name) + internal::suggestion(name, known)};
}

std::optional<double> level(const EntrantResult& entrant, Metric metric) { return entrant.scores.mean[metric]; }

std::optional<report::Estimate> difference(const EntrantResult& a, const EntrantResult& b, Metric metric) {
  const std::optional<double> ours = level(a, metric);
  const std::optional<double> theirs = level(b, metric);
  if (!ours || !theirs) return std::nullopt;
  report::Estimate result{*ours - *theirs, std::nullopt};
  const Resampled* const resamples = resampled(a, metric);
  if (resamples == nullptr || resamples->empty()) return result;
  const Better better = shown(metric).best == Best::kLowest ? Better::kLower : Better::kHigher;
  const Difference paired = paired_difference(*resamples, *resampled(b, metric), better);
  if (paired.interval) result.interval = {paired.interval->low, paired.interval->high};
  return result;
}

}  // namespace margin::experiment
