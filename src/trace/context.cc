#include "trace/context.h"

#include <algorithm>

#include "base/hex.h"

namespace margin::trace {
namespace {

constexpr std::size_t kFormBytes = 55;
constexpr std::size_t kStateBytesMax = 512;

// Lower case only, as the standard has it; nothing else is a digit.
std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const bool decimal = c >= '0' && c <= '9';
    if (!decimal && !(c >= 'a' && c <= 'f')) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
  }
  return value;
}

bool is_state(std::string_view text) {
  return text.size() <= kStateBytesMax && std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::optional<Context> parse_traceparent(std::string_view text, std::string_view tracestate) {
  if (text.size() < kFormBytes || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  const auto version = parse_hex(text.substr(0, 2));
  const auto high = parse_hex(text.substr(3, 16));
  const auto low = parse_hex(text.substr(19, 16));
  const auto span = parse_hex(text.substr(36, 16));
  const auto flags = parse_hex(text.substr(53, 2));
  if (!version || !high || !low || !span || !flags || *version == 0xff || (*high | *low) == 0 || *span == 0) return std::nullopt;
  const bool longer = text.size() > kFormBytes;
  if (longer && (*version == 0 || text[kFormBytes] != '-')) return std::nullopt;
  Context context{.trace = {*high, *low}, .span = *span, .sampled = (*flags & 1U) != 0, .state = {}};
  if (is_state(tracestate)) context.state = tracestate;
  return context;
}

std::string traceparent(const Context& context) {
  return "00-" + trace_hex(context) + "-" + span_hex(context.span) + (context.sampled ? "-01" : "-00");
}

std::string trace_hex(const Context& context) { return internal::hex(context.trace.high) + internal::hex(context.trace.low); }
std::string span_hex(std::uint64_t span) { return internal::hex(span); }

}  // namespace margin::trace
