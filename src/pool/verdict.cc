#include "pool/verdict.h"

#include <algorithm>

#include "pool/id_encoding.h"
#include "pool/limits.h"

namespace margin::internal {
namespace {

Status apply_grades(const std::vector<Grade>& grades, const DecisionRecord& decision, const Members& members, const Cells& cells,
                    std::vector<double>& outcomes) {
  for (std::size_t g = 0; g < grades.size(); ++g) {
    const auto refused = [&](std::string_view why) {
      return Status{ErrorCode::kInvalidArgument, "grades[" + std::to_string(g) + "].model: " + grades[g].model + std::string(why)};
    };
    bool answered = false;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const DecisionRecord::Response& response = decision.responses[i];
      if (members[response.model].name != grades[g].model) continue;
      if (!grades[g].channel.empty() && cells[response.cell].channel != grades[g].channel) continue;
      if (outcomes[i] == outcomes[i]) return refused(" is graded twice");
      outcomes[i] = grades[g].outcome;
      answered = true;
    }
    if (!answered) return refused(" did not answer in this decision");
  }
  return {};
}

}  // namespace

Verdict verdict_of(const OutcomeObserved& outcome, std::optional<AnswerKind> kind) {
  Verdict verdict{.grades = outcome.grades, .selected = outcome.selected, .weight = outcome.weight, .source = outcome.source};
  if (outcome.gold) {
    verdict.gold.emplace();
    for (std::size_t k = 0; k < kAnswerKinds; ++k) {
      const auto form = static_cast<AnswerKind>(k);
      if (!kind || *kind == form) (*verdict.gold)[k] = digest_of(canonical_answer(form, *outcome.gold));
    }
  }
  return verdict;
}

Result<std::vector<double>> outcomes_of(const Verdict& verdict, const DecisionRecord& decision, const Members& members,
                                        const Cells& cells) {
  std::vector<double> outcomes(decision.responses.size(), kNoOutcome);
  if (!verdict.grades.empty()) {
    if (Status status = apply_grades(verdict.grades, decision, members, cells, outcomes); !status) return status.error();
    return outcomes;
  }
  if (verdict.selected && decision.selected == kNoAnswer) {
    return {ErrorCode::kInvalidArgument, "selected: the decision selected no answer"};
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const DecisionRecord::Response& response = decision.responses[i];
    if (!response.usable) continue;
    if (verdict.gold) {
      const Digest& gold = (*verdict.gold)[static_cast<std::size_t>(decision.kind)];
      outcomes[i] = response.answer != kNoAnswer && decision.answers[response.answer] == gold ? 1.0 : 0.0;
    } else if (response.answer == decision.selected) {
      outcomes[i] = *verdict.selected;
    }
  }
  if (std::none_of(outcomes.begin(), outcomes.end(), [](double outcome) { return outcome == outcome; })) {
    return {ErrorCode::kInvalidArgument, "outcome: the decision has no usable response that it grades"};
  }
  return outcomes;
}

void save(const Verdict& verdict, Encoder& out) {
  out.integer(static_cast<std::uint64_t>(verdict.grades.size()));
  for (const Grade& grade : verdict.grades) {
    out.text(grade.model);
    out.real(grade.outcome);
    out.text(grade.channel);
  }
  out.flag(verdict.gold.has_value());
  if (verdict.gold) {
    for (const Digest& form : *verdict.gold) encode(form, out);
  }
  out.flag(verdict.selected.has_value());
  if (verdict.selected) out.real(*verdict.selected);
  out.real(verdict.weight);
  out.text(verdict.source);
}

Verdict load_verdict(Decoder& in) {
  Verdict verdict;
  verdict.grades.resize(in.length(8 + 8 + 8));
  for (Grade& grade : verdict.grades) {
    grade.model = in.text();
    grade.outcome = in.real();
    grade.channel = in.text();
    if (!is_probability(grade.outcome)) in.fail();
  }
  if (in.flag()) {
    verdict.gold.emplace();
    for (Digest& form : *verdict.gold) form = decode_digest(in);
  }
  if (in.flag()) verdict.selected = in.real();
  verdict.weight = in.real();
  verdict.source = in.text();
  const int forms = (verdict.grades.empty() ? 0 : 1) + (verdict.gold ? 1 : 0) + (verdict.selected ? 1 : 0);
  if (forms != 1 || !is_probability(verdict.weight)) in.fail();
  if (verdict.selected && !is_probability(*verdict.selected)) in.fail();
  return verdict;
}

}  // namespace margin::internal
