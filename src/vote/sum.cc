// sum: an answer scores the calibrated confidences of those who gave it. The published vote, and the default.
#include "vote/registry.h"

namespace margin {
namespace {

const VoteInfo& info() {
  static const VoteInfo kInfo{.identifier = "sum", .summary = "sum of calibrated confidences"};
  return kInfo;
}

class Sum final : public Vote {
 public:
  explicit Sum(Parameters resolved) : Vote(margin::info(), std::move(resolved)) {}
  [[nodiscard]] std::optional<AddendRange> addend_range() const override { return AddendRange{0.0, 1.0}; }
  [[nodiscard]] bool has_terms() const override { return false; }

 protected:
  [[nodiscard]] double addend(std::span<const Ballot> ballots, std::size_t ballot) const override { return ballots[ballot].confidence; }
};

}  // namespace

const internal::VoteKind internal::kSum = {info, make_kind<Sum>};

}  // namespace margin
