// majority: one ballot, one vote. The baseline that ignores confidence.
#include "vote/registry.h"

namespace margin {
namespace {

const VoteInfo& info() {
  static const VoteInfo kInfo{.identifier = "majority", .summary = "number of models, whatever their confidence"};
  return kInfo;
}

class Majority final : public Vote {
 public:
  explicit Majority(Parameters resolved) : Vote(margin::info(), std::move(resolved)) {}
  [[nodiscard]] std::optional<AddendRange> addend_range() const override { return AddendRange{1.0, 1.0}; }
  [[nodiscard]] bool has_terms() const override { return false; }

 protected:
  [[nodiscard]] double addend(std::span<const Ballot>, std::size_t) const override { return 1.0; }
};

}  // namespace

const internal::VoteKind internal::kMajority = {info, make_kind<Majority>};

}  // namespace margin
