// A decision's message written straight to bytes, the same that Protocol Buffers would make of it, and read straight from them. Decisions
// are what a log mostly holds, and a message in between, with a string of its own for every name, costs several times as much.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "log/event_log.h"
#include "margin/event.h"

namespace margin::internal {

// Appends the record of an event whose body is this decision: the bytes that Protocol Buffers would write.
void append_decision(const Event& event, const DecisionMade& decision, const std::optional<RequestMark>& mark, std::string_view note,
                     std::string& out);

// Reads the record of a decision, if its bytes are as they are written here. Nothing: Protocol Buffers can tell whether it is one
// nevertheless, with fields that came later or in another order.
[[nodiscard]] std::optional<Record> read_decision(std::string_view bytes);

}  // namespace margin::internal
