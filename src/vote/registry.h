// The registry of votes. A new vote is one file that defines a `VoteKind` and one line in MARGIN_VOTES.
#pragma once

#include <memory>

#include "margin/vote.h"

// In the order tables show them; internal::kNAME is defined in the vote's file.
#define MARGIN_VOTES(VOTE) \
  VOTE(Sum)                \
  VOTE(Argmax)             \
  VOTE(Majority)           \
  VOTE(LogOdds)            \
  VOTE(Discounted)         \
  VOTE(Stacked)

// Versions that newer ones have replaced: what was stored with them goes on with them.
#define MARGIN_REPLACED_VOTES(VOTE) \
  VOTE(Stacked2)                    \
  VOTE(Stacked1)

namespace margin::internal {

// What a vote's file offers: what it is, and how to make one from resolved parameters.
struct VoteKind {
  const VoteInfo& (*info)();
  std::unique_ptr<Vote> (*make)(Parameters resolved);
};

template <class T>
std::unique_ptr<Vote> make_kind(Parameters resolved) {
  return std::make_unique<T>(std::move(resolved));
}

#define MARGIN_DECLARE_VOTE(NAME) extern const VoteKind k##NAME;
MARGIN_VOTES(MARGIN_DECLARE_VOTE)
MARGIN_REPLACED_VOTES(MARGIN_DECLARE_VOTE)
#undef MARGIN_DECLARE_VOTE

}  // namespace margin::internal
