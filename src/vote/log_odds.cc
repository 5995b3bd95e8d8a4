// log_odds: an answer scores the evidence of its ballots, as if the models erred independently of each other.
#include "vote/evidence.h"
#include "vote/registry.h"

namespace margin {
namespace {

const VoteInfo& info() {
  static const VoteInfo kInfo{
      .identifier = "log_odds", .summary = "sum of log odds against chance", .parameters = internal::Evidence::parameters()};
  return kInfo;
}

class LogOdds final : public Vote {
 public:
  explicit LogOdds(Parameters resolved) : Vote(margin::info(), std::move(resolved)), evidence_(parameters()) {}
  [[nodiscard]] std::optional<AddendRange> addend_range() const override { return AddendRange{evidence_(0.0), evidence_(1.0)}; }

 protected:
  [[nodiscard]] double addend(std::span<const Ballot> ballots, std::size_t ballot) const override {
    return evidence_(ballots[ballot].confidence);
  }
  [[nodiscard]] std::vector<Term> terms(std::span<const Ballot> ballots, std::size_t ballot) const override {
    return {{"x", addend(ballots, ballot)}};
  }

 private:
  const internal::Evidence evidence_;
};

}  // namespace

const internal::VoteKind internal::kLogOdds = {info, make_kind<LogOdds>};

}  // namespace margin
