// What the log keeps of answers: the operator's choice, applied to every decision before it is written.
#pragma once

#include "config/config.h"
#include "margin/pool.h"

namespace margin::server {

// The decision has all texts, as Pool::decide records them.
void keep_answers(DecisionMade& decision, config::KeptAnswers kept);

}  // namespace margin::server
