// Events to try the log with. Used by the tests of src/log, the conformance suite, the fuzzers' corpus and the benchmarks.
#pragma once

#include <vector>

#include "log/event_log.h"
#include "margin/event.h"
#include "margin/random.h"

namespace margin {

// One event of each type, in the order of EventBody: every text filled, every number not zero, every option present.
[[nodiscard]] std::vector<Event> full_events();
// The same with every text empty, every number zero, every option absent.
[[nodiscard]] std::vector<Event> empty_events();
// Anything in between, with any bytes in its texts and any finite double in its numbers.
[[nodiscard]] Record random_record(Random& random);
// A decision as a server records it: `responses` models, three answers, with texts. Its record leaves out all that can be left out.
[[nodiscard]] Event typical_decision(std::size_t responses, Random& random);

}  // namespace margin
