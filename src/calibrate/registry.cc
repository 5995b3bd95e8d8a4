#include "calibrate/registry.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/suggest.h"

namespace margin {
namespace {

using internal::Method;

const std::array kMethods = {
    &internal::kRaw,
    &internal::kTemperatureScaling,
    &internal::kPlattScaling,
    &internal::kHistogramBinning,
    &internal::kSlidingWindowHistogram,
    &internal::kDecayedHistogram,
    &internal::kWindowedAccuracyReplace,
    &internal::kWindowedAccuracyMultiply,
    &internal::kOnlinePlatt,
    &internal::kAciQuantileScale,
    &internal::kMargin,
    &internal::kMarginAdaptive,
};

const Method* find(std::string_view identifier, int version) {
  const auto found = std::find_if(kMethods.begin(), kMethods.end(), [&](const Method* method) {
    return method->info().identifier == identifier && (version == 0 || method->info().version == version);
  });
  return found == kMethods.end() ? nullptr : *found;
}

Error unknown(std::string_view identifier, int version) {
  if (find(identifier, 0) != nullptr) {
    return {ErrorCode::kNotFound,
            "calibrator " + std::string(identifier) + " has no version " + std::to_string(version) + " in this binary"};
  }
  std::vector<std::string> names;
  for (const Method* method : kMethods) names.push_back(method->info().identifier);
  return {ErrorCode::kNotFound, "no calibrator named " + std::string(identifier) + internal::suggestion(identifier, names)};
}

// Version 0 is the newest.
Result<std::unique_ptr<Calibrator>> make(std::string_view identifier, int version, const Parameters& parameters) {
  const Method* method = find(identifier, version);
  if (method == nullptr) return unknown(identifier, version);
  Result<Parameters> resolved = resolve_parameters(identifier, method->info().parameters, parameters);
  if (!resolved) return resolved.error();
  if (method->check != nullptr) {
    if (const Status status = method->check(*resolved); !status) return status.error();
  }
  return method->make(std::move(*resolved));
}

}  // namespace

std::span<const CalibratorInfo* const> calibrator_catalog() {
  static const auto catalog = [] {
    std::array<const CalibratorInfo*, kMethods.size()> infos{};
    std::transform(kMethods.begin(), kMethods.end(), infos.begin(), [](const Method* method) { return &method->info(); });
    return infos;
  }();
  return catalog;
}

Result<std::unique_ptr<Calibrator>> make_calibrator(std::string_view identifier, const Parameters& parameters) {
  return make(identifier, 0, parameters);
}

Result<std::unique_ptr<Calibrator>> make_calibrator(std::string_view identifier, int version, const Parameters& parameters) {
  if (version < 1) return unknown(identifier, version);
  return make(identifier, version, parameters);
}

}  // namespace margin
