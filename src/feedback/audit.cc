#include "margin/audit.h"

#include "base/check.h"
#include "margin/answer.h"
#include "margin/random.h"

namespace margin {

std::vector<Audit> audits_of(const AuditPlan& plan, std::uint64_t task, std::span<const std::uint32_t> answers, std::uint32_t selected) {
  MARGIN_CHECK(plan.rate >= 0.0 && plan.rate <= 1.0, "an audit rate is in [0, 1]");
  std::vector<Audit> audits;
  if (plan.rate == 0.0 || selected == kNoAnswer) return audits;
  Random random = Random::stream(plan.seed, task);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const bool drawn = random.chance(plan.rate);  // also for the supporters, so that a draw does not depend on the selection
    if (drawn && answers[i] != selected) audits.push_back({.response = i, .propensity = plan.rate});
  }
  return audits;
}

AuditPlan repetition(const AuditPlan& plan, std::uint64_t number) {
  return {.rate = plan.rate, .seed = Random::stream(plan.seed, number).bits()};
}

}  // namespace margin
