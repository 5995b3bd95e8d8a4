// Spans as an OTLP/HTTP request in JSON (opentelemetry-proto, ExportTraceServiceRequest). Used by Tracer.
#pragma once

#include <span>
#include <string>

#include "trace/span.h"

namespace margin::trace {

// `resource`: who speaks, service.name among it; `version`: of the program.
[[nodiscard]] std::string otlp_request(const Attributes& resource, std::string_view version, std::span<const Span> spans);

}  // namespace margin::trace
