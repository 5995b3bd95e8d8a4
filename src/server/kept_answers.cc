#include "server/kept_answers.h"

namespace margin::server {

void keep_answers(DecisionMade& decision, config::KeptAnswers kept) {
  if (kept != config::KeptAnswers::kText) {
    for (RecordedResponse& response : decision.responses) response.answer_text.clear();
  }
  if (kept != config::KeptAnswers::kNone) return;
  // Groups stay, so outcomes still find their responses; a digest of a short answer could be guessed.
  for (std::size_t group = 0; group < decision.answers.size(); ++group) decision.answers[group] = unkept_answer(group);
}

}  // namespace margin::server
