// Audits: which responses of a decided task should be graded although their answer was not selected. A small random sample of them is
// what keeps calibration honest where nothing follows from the selected answer's outcome. docs/feedback.md says why and how much it buys.
//
//   const std::vector<std::uint32_t> answers = {0, 1, 1, 2};  // of the responses, as grouped
//   const std::vector<margin::Audit> audits = margin::audits_of({.rate = 0.1, .seed = 7}, 42, answers, 1);  // answer 1 won
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace margin {

struct AuditPlan {
  double rate = 0.0;       // in [0, 1]: the chance of each response that does not support the selected answer
  std::uint64_t seed = 0;  // the same seed and task ask for the same responses
};

// A response that should be graded.
struct Audit {
  std::size_t response = 0;
  double propensity = 1.0;  // the chance with which it was chosen, to be kept with the decision
};

// `task`: any number that names the task. `answers[i]` is the group of response i's answer or kNoAnswer, `selected` the winner's group.
// Each response has a draw of its own, so a higher rate asks for the same ones and more. Nothing selected: nobody is asked for.
[[nodiscard]] std::vector<Audit> audits_of(const AuditPlan& plan, std::uint64_t task, std::span<const std::uint32_t> answers,
                                           std::uint32_t selected);

// The plan with draws of its own for repetition `number`.
[[nodiscard]] AuditPlan repetition(const AuditPlan& plan, std::uint64_t number);

}  // namespace margin
