// Verdict: what a feedback says about a decision, in a form of bounded size that can wait for the decision; and its resolution into
// an outcome per response.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "margin/event.h"
#include "pool/decisions.h"
#include "pool/members.h"

namespace margin::internal {

inline constexpr std::size_t kAnswerKinds = static_cast<std::size_t>(AnswerKind::kText) + 1;

struct Verdict {
  std::vector<Grade> grades;
  // The gold answer by kind of task: while the decision has not come, its kind is unknown, and the text may be large or private.
  std::optional<std::array<Digest, kAnswerKinds>> gold;
  std::optional<double> selected;
  double weight = 1.0;
  std::string source;

  // How many outcomes it counts for while it waits: one per grade.
  [[nodiscard]] std::size_t outcomes() const { return grades.empty() ? 1 : grades.size(); }
};

// `kind`: that of the decision when it is known, which saves the other forms of a gold answer.
[[nodiscard]] Verdict verdict_of(const OutcomeObserved& outcome, std::optional<AnswerKind> kind);

// The outcome of each of the decision's responses, kNoOutcome where the verdict says nothing of it.
// kInvalidArgument: a model (or channel) that did not answer, a response graded twice, nothing was selected, or nothing to grade.
[[nodiscard]] Result<std::vector<double>> outcomes_of(const Verdict& verdict, const DecisionRecord& decision, const Members& members,
                                                      const Cells& cells);

void save(const Verdict& verdict, Encoder& out);
[[nodiscard]] Verdict load_verdict(Decoder& in);

}  // namespace margin::internal
