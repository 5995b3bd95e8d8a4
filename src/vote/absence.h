// decisive_absences() for a caller that knows the ballots' weights and has room for what is counted again.
#pragma once

#include <cstddef>
#include <limits>
#include <memory_resource>
#include <span>
#include <vector>

#include "margin/vote.h"

namespace margin::internal {

// What rounding may do to a sum of so many ballots, relative to the sum of their sizes; several times more than it does.
[[nodiscard]] inline double rounding_of(std::size_t ballots) {
  return 4.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(ballots + 4);
}

// `weights`: Vote::weight of each ballot. `again`: whose memory is used where somebody's absence has to be counted.
[[nodiscard]] std::pmr::vector<Absence> decisive_absences(const Vote& vote, std::span<const Ballot> ballots,
                                                          std::span<const double> weights, const Tally& tally, Tally& again,
                                                          std::size_t models_max, std::pmr::memory_resource* room);

}  // namespace margin::internal
