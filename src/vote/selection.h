// The answer with the largest score: how votes select unless they say otherwise, and how their count is told without some ballots.
#pragma once

#include <cstdint>

#include "margin/vote.h"

namespace margin::internal {

// Among those with votes, the first of equals; kNoAnswer when none has any.
[[nodiscard]] inline std::uint32_t largest_score(const Tally& tally) {
  std::uint32_t winner = kNoAnswer;
  for (std::uint32_t y = 0; y < tally.scores.size(); ++y) {
    if (tally.votes[y] != 0 && (winner == kNoAnswer || tally.scores[y] > tally.scores[winner])) winner = y;
  }
  return winner;
}

}  // namespace margin::internal
