#include "server/kept_answers.h"

namespace margin::server {

void keep_answers(DecisionMade& decision, const Question& question, config::KeptAnswers kept) {
  for (std::size_t i = 0; i < decision.responses.size(); ++i) {
    const bool text = kept == config::KeptAnswers::kText && question.responses[i].answer.has_value();
    decision.responses[i].answer_text = text ? *question.responses[i].answer : "";
  }
  if (kept != config::KeptAnswers::kNone) return;
  // Groups stay, so outcomes still find their responses; a digest of a short answer could be guessed.
  for (std::size_t group = 0; group < decision.answers.size(); ++group) decision.answers[group] = {0, group};
}

}  // namespace margin::server
