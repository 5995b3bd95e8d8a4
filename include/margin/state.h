// State: what two pools know, compared and brought together. Snapshots in, values out; pure. docs/pool.md#state-of-another-pool has the
// rules.
//
//   margin::Pool here;
//   margin::Pool there;
//   const auto together = margin::merge_states(here.snapshot(), there.snapshot());
//   for (const margin::BandDifference& row : margin::diff_states(here.snapshot(), there.snapshot()).value()) {
//     const bool both_know_it = row.first && row.second;
//   }
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "margin/result.h"

namespace margin {

// What a pool holds of one (model, channel, segment, band).
struct BandState {
  double factor = 1.0;  // at the band's midpoint
  double n = 0.0;       // weighted observations behind it
};

struct BandDifference {
  std::string model;
  std::string channel;
  std::string segment;
  int band = 0;
  std::optional<BandState> first, second;  // none: that pool does not know it
};

// Every (model, channel, segment, band) that either pool knows, the first pool's in its order, then those of the second alone. Equal ones
// are there, too. The errors of Pool::restore; kConflict: a pool that must be folded again first.
[[nodiscard]] Result<std::vector<BandDifference>> diff_states(std::string_view first, std::string_view second);

// A snapshot of a pool that has seen what both have: the models of both, and in every cell their estimates averaged by the evidence behind
// them, the evidence added (Calibrator::merge). It has the first one's configuration; what belongs to the course of one pool (decisions and
// pending feedback, vote, trust in decisions, remedy, watch) starts anew. The errors of Pool::restore; kInvalidArgument: calibrators
// differ; kUnsupported: a calibrator that has no merge; kLimit: more models or cells than the first one's configuration allows; kConflict:
// a pool that must be folded again first.
[[nodiscard]] Result<std::string> merge_states(std::string_view first, std::string_view second);

}  // namespace margin
