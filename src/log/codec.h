// Records of the event log as bytes: Protocol Buffers (event.proto), translated to and from the plain values of margin/event.h.
// Used by every EventLog. docs/event_log.md says how the format may grow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "log/event_log.h"
#include "margin/result.h"

namespace margin::internal {

// A record carries the oldest format whose readers understand it: the first, but for decisions that leave something out, and for
// configurations with a max_error below 1 and imported states that have one.
inline constexpr std::uint32_t kFirstFormat = 1;
inline constexpr std::uint32_t kLeftOutFormat = 2;
inline constexpr std::uint32_t kMaxErrorFormat = 3;
// The newest that this binary reads.
inline constexpr std::uint32_t kFormatVersion = kMaxErrorFormat;

// Appends the bytes of a record to `out`. Every value survives to the bit.
void encode(const Event& event, const std::optional<RequestMark>& mark, std::string_view note, std::string& out);

// Reads what encode wrote. `pool` and `offset` are for the messages, and the offset for the record.
// kCorrupt: the bytes are no record; kUnsupported: a newer format or an event type that this binary does not know.
// Safe on any bytes: memory is bounded by a small multiple of their number.
[[nodiscard]] Result<Record> decode(std::string_view bytes, std::string_view pool, std::uint64_t offset);

}  // namespace margin::internal
