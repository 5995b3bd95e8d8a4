// Events to and from the messages of event.proto, field by field. Only log/codec.cc uses it.
#pragma once

#include <event.pb.h>

#include "log/event_log.h"
#include "margin/event.h"

namespace margin::internal {

void to_wire(const RequestMark& from, wire::Mark& to);
void from_wire(const wire::Mark& from, RequestMark& to);

// A decision is not put in: append_decision writes its record (log/wire_decision.h).
void to_wire(const EventBody& from, wire::Envelope& to);
// False: no body that this binary knows, or a value that no event can have.
bool from_wire(const wire::Envelope& from, EventBody& to);

}  // namespace margin::internal
