#include "trace/otlp.h"

#include <algorithm>

#include "base/json_writer.h"

namespace margin::trace {

namespace {

using internal::JsonWriter;

constexpr std::size_t kTextBytesMax = 1024;
constexpr std::size_t kValuesMax = 32;

std::string cut(std::string_view text) { return std::string(text.substr(0, kTextBytesMax)); }

// 64 bits are text in the JSON of Protocol Buffers: a double could not hold them.
void write_whole(JsonWriter& out, std::string_view key, std::int64_t value) { out.key(key).text(std::to_string(value)); }

struct ValueWriter {
  JsonWriter& out;
  void operator()(const std::string& value) const { out.key("stringValue").text(value); }
  void operator()(std::int64_t value) const { write_whole(out, "intValue", value); }
  void operator()(double value) const { out.key("doubleValue").number(value); }
  void operator()(bool value) const { out.key("boolValue").flag(value); }
  void operator()(const std::vector<std::string>& values) const {
    out.key("arrayValue").open('{').key("values").open('[');
    for (const std::string& value : values) out.open('{').key("stringValue").text(value).close('}');
    out.close(']').close('}');
  }
};

void write_attributes(JsonWriter& out, const Attributes& attributes) {
  out.key("attributes").open('[');
  for (const auto& [name, value] : attributes.all()) {
    out.open('{').key("key").text(name).key("value").open('{');
    std::visit(ValueWriter{out}, value);
    out.close('}').close('}');
  }
  out.close(']');
}

void write_span(JsonWriter& out, const Span& span) {
  constexpr int kError = 2;  // STATUS_CODE_ERROR
  out.open('{').key("traceId").text(trace_hex(span.context)).key("spanId").text(span_hex(span.context.span));
  if (span.parent != 0) out.key("parentSpanId").text(span_hex(span.parent));
  if (!span.context.state.empty()) out.key("traceState").text(span.context.state);
  out.key("name").text(span.name).key("kind").number(static_cast<int>(span.kind));
  write_whole(out, "startTimeUnixNano", span.start_ns);
  write_whole(out, "endTimeUnixNano", span.end_ns);
  write_attributes(out, span.attributes);
  if (!span.events.empty()) {
    out.key("events").open('[');
    for (const Event& event : span.events) {
      out.open('{');
      write_whole(out, "timeUnixNano", event.time_ns);
      out.key("name").text(event.name);
      write_attributes(out, event.attributes);
      out.close('}');
    }
    out.close(']');
  }
  out.key("status").open('{');
  if (!span.error.empty()) out.key("code").number(kError).key("message").text(cut(span.error));
  out.close('}').close('}');
}

}  // namespace

void Attributes::set(std::string_view name, std::string_view value) { all_.emplace_back(name, cut(value)); }

void Attributes::set(std::string_view name, std::vector<std::string> values) {
  if (values.size() > kValuesMax) values.resize(kValuesMax);
  for (std::string& value : values) value = cut(value);
  all_.emplace_back(name, std::move(values));
}

std::string otlp_request(const Attributes& resource, std::string_view version, std::span<const Span> spans) {
  JsonWriter out;
  out.reserve(spans.size() * 1024 + 512);
  out.open('{').key("resourceSpans").open('[').open('{').key("resource").open('{');
  write_attributes(out, resource);
  out.close('}').key("scopeSpans").open('[').open('{');
  out.key("scope").open('{').key("name").text("margin").key("version").text(version).close('}').key("spans").open('[');
  for (const Span& span : spans) write_span(out, span);
  out.close(']').close('}').close(']').close('}').close(']').close('}');
  return out.take();
}

}  // namespace margin::trace
