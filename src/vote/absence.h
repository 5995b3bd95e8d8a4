// decisive_absences() for a caller that knows the ballots' weights and has room for what is counted again.
#pragma once

#include <memory_resource>
#include <span>
#include <vector>

#include "margin/vote.h"

namespace margin::internal {

// `weights`: Vote::weight of each ballot. `again`: whose memory is used where somebody's absence has to be counted.
[[nodiscard]] std::pmr::vector<Absence> decisive_absences(const Vote& vote, std::span<const Ballot> ballots,
                                                          std::span<const double> weights, const Tally& tally, Tally& again,
                                                          std::size_t models_max, std::pmr::memory_resource* room);

}  // namespace margin::internal
