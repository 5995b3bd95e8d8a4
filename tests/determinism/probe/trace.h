// What the probes share: a fingerprint of every number seen, and one printed line per item.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/encoding.h"
#include "margin/digest.h"
#include "margin/parameter.h"
#include "margin/random.h"

namespace margin::determinism {

// Collects numbers by their bits. NaN has many bit patterns and none is promised, so all count as one.
class Trace {
 public:
  void see(double value) { bytes_.real(value == value ? value : std::numeric_limits<double>::quiet_NaN()); }
  void see(std::string_view value) { bytes_.text(value); }
  void see(const Digest& value) { see(value.hex()); }
  void see(std::uint64_t value) { bytes_.integer(value); }

  void print(const std::string& item) const { std::printf("%s %s\n", item.c_str(), digest_of(bytes_.bytes()).hex().c_str()); }

 private:
  internal::Encoder bytes_;
};

// A value of the parameter that is not its default, so that each parameter is exercised; the default where there is no other.
inline ParameterValue other_value(const ParameterSpec& spec) {
  if (spec.kind == ParameterSpec::Kind::kChoice) return spec.choices.back();
  if (spec.kind == ParameterSpec::Kind::kList) return spec.fallback;
  const double fallback = std::get<double>(spec.fallback);
  if (spec.kind == ParameterSpec::Kind::kInteger) return fallback + 2 <= spec.high ? fallback + 2 : fallback - 1;
  const double larger = fallback == 0.0 ? spec.high / 16 : fallback * 1.25;
  return larger <= spec.high ? larger : (spec.low + fallback) / 2;
}

// Mostly ordinary confidences, often one at an edge of the format, of a band or of the interval.
inline double confidence(Random& random) {
  constexpr double kEdges[] = {
      0.0, 5e-324, 1e-300, 0x1p-1022, 0.1, 0.3, 1.0 / 3, 0x1.5555555555556p-2, 0.5, 2.0 / 3, 0.7, 0.9, 0x1.fffffffffffffp-1, 1.0};
  if (random.chance(0.25)) return kEdges[random.below(std::size(kEdges))];
  return random.chance(0.5) ? static_cast<double>(random.below(21)) / 20 : random.uniform();
}

void probe_math();
void probe_calibrators();
void probe_votes();
void probe_pool();

}  // namespace margin::determinism
