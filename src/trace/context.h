// Where a span stands: W3C trace context as it travels in the headers traceparent and tracestate. Used by whoever takes or makes requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "margin/uuid.h"

namespace margin::trace {

struct Context {
  Uuid trace;  // 128 bits, so that a decision's id can be its trace's; never 0
  std::uint64_t span = 0;
  bool sampled = false;
  std::string state;  // tracestate, passed on as it came

  bool operator==(const Context&) const = default;
};

// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". Nothing: not of that form, so the trace begins here. A later version is read
// as far as it agrees with this one. A tracestate that no header may hold, or of more than 512 bytes, is dropped.
[[nodiscard]] std::optional<Context> parse_traceparent(std::string_view traceparent, std::string_view tracestate = {});
[[nodiscard]] std::string traceparent(const Context& context);

// 32 and 16 hexadecimal digits.
[[nodiscard]] std::string trace_hex(const Context& context);
[[nodiscard]] std::string span_hex(std::uint64_t span);

}  // namespace margin::trace
