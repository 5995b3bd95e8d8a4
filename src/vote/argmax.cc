// argmax: the single most confident response decides; an answer scores its leading response and nothing else.
#include "vote/registry.h"

namespace margin {
namespace {

const VoteInfo& info() {
  static const VoteInfo kInfo{.identifier = "argmax", .summary = "the single most confident response"};
  return kInfo;
}

class Argmax final : public Vote {
 public:
  explicit Argmax(Parameters resolved) : Vote(margin::info(), std::move(resolved)) {}
  [[nodiscard]] bool has_terms() const override { return false; }

 protected:
  [[nodiscard]] double addend(std::span<const Ballot> ballots, std::size_t ballot) const override {
    const Ballot& own = ballots[ballot];
    for (std::size_t i = 0; i < ballots.size(); ++i) {
      const bool leads = ballots[i].confidence > own.confidence || (ballots[i].confidence == own.confidence && i < ballot);
      if (ballots[i].answer == own.answer && leads) return 0.0;
    }
    return own.confidence;
  }

  // Between equally confident responses the first one decides, although its answer may not be the task's first.
  [[nodiscard]] std::uint32_t select(std::span<const Ballot> ballots, const Tally&) const override {
    const Ballot* most = nullptr;
    for (const Ballot& ballot : ballots) {
      if (ballot.answer != kNoAnswer && (most == nullptr || ballot.confidence > most->confidence)) most = &ballot;
    }
    return most->answer;
  }
};

}  // namespace

const internal::VoteKind internal::kArgmax = {info, make_kind<Argmax>};

}  // namespace margin
