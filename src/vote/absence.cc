// What a decision would be without each of its models, by counting again.
#include <algorithm>

#include "margin/vote.h"

namespace margin {

std::vector<Absence> decisive_absences(const Vote& vote, std::span<const Ballot> ballots, std::uint32_t answers) {
  Tally tally;
  vote.tally(ballots, answers, tally);
  const std::uint32_t selected = tally.winner;
  std::vector<Absence> decisive;
  std::vector<ModelId> tried;
  std::vector<Ballot> rest;
  for (const Ballot& ballot : ballots) {
    if (ballot.answer == kNoAnswer || std::find(tried.begin(), tried.end(), ballot.model) != tried.end()) continue;
    tried.push_back(ballot.model);
    rest.clear();
    std::copy_if(ballots.begin(), ballots.end(), std::back_inserter(rest),
                 [&](const Ballot& other) { return other.model != ballot.model; });
    vote.tally(rest, answers, tally);
    if (tally.winner != selected) decisive.push_back({ballot.model, tally.winner});
  }
  return decisive;
}

}  // namespace margin
