// What the log keeps of answers: the operator's choice, applied to every decision before it is written.
#pragma once

#include "config/config.h"
#include "margin/pool.h"

namespace margin::server {

void keep_answers(DecisionMade& decision, const Question& question, config::KeptAnswers kept);

}  // namespace margin::server
