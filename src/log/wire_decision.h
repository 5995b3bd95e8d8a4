// A decision's message written straight to bytes, the same that Protocol Buffers would make of it. Decisions are what a log mostly holds,
// and a message in between, with a string of its own for every name, costs five times as much. wire_event.cc reads them.
#pragma once

#include <cstdint>
#include <string>

#include "margin/event.h"

namespace margin::internal {

// Appends the field `decision_made` of an Envelope.
void append_decision(const DecisionMade& decision, std::string& out);

}  // namespace margin::internal
