#include "calibrate/registry.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/suggest.h"
#include "base/versioned_name.h"

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

// Versions that newer ones have replaced: stored logs go on folding with them.
const std::array kReplaced = {
    &internal::kMarginAdaptive2,
    &internal::kMarginAdaptive1,
};

// Version 0 is the newest.
const Method* find(std::string_view identifier, int version) {
  const auto is_meant = [&](const Method* method) {
    return method->info().identifier == identifier && (version == 0 || method->info().version == version);
  };
  const auto newest = std::find_if(kMethods.begin(), kMethods.end(), is_meant);
  if (newest != kMethods.end()) return *newest;
  const auto replaced = std::find_if(kReplaced.begin(), kReplaced.end(), is_meant);
  return replaced == kReplaced.end() ? nullptr : *replaced;
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

template <std::size_t kSize>
std::array<const CalibratorInfo*, kSize> infos_of(const std::array<const Method*, kSize>& methods) {
  std::array<const CalibratorInfo*, kSize> infos{};
  std::transform(methods.begin(), methods.end(), infos.begin(), [](const Method* method) { return &method->info(); });
  return infos;
}

}  // namespace

std::span<const CalibratorInfo* const> calibrator_catalog() {
  static const auto catalog = infos_of(kMethods);
  return catalog;
}

std::span<const CalibratorInfo* const> replaced_calibrators() {
  static const auto catalog = infos_of(kReplaced);
  return catalog;
}

Result<const CalibratorInfo*> find_calibrator(std::string_view name) {
  const auto [identifier, version] = internal::parse_versioned(name);
  const Method* method = find(identifier, version);
  if (method == nullptr) return unknown(identifier, version);
  return &method->info();
}

Result<std::unique_ptr<Calibrator>> make_calibrator(std::string_view name, const Parameters& parameters) {
  const auto [identifier, version] = internal::parse_versioned(name);
  return make(identifier, version, parameters);
}

Result<std::unique_ptr<Calibrator>> make_calibrator(std::string_view identifier, int version, const Parameters& parameters) {
  if (version < 1) return unknown(identifier, version);
  return make(identifier, version, parameters);
}

}  // namespace margin
