// Where spans go and which: from [trace] of the configuration and from OpenTelemetry's variables. Used by the daemon to make a Tracer.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "margin/result.h"
#include "trace/span.h"
#include "upstream/url.h"

namespace margin::trace {

using upstream::Environment;

struct Settings {
  std::string url;                                           // where batches are posted, with its path; empty: nothing is recorded
  std::string ca_file;                                       // PEM; empty: the system's
  std::vector<std::pair<std::string, std::string>> headers;  // of each batch; secrets may be among them
  Attributes resource;                                       // service.name first
  std::string version;                                       // of the program
  double sample = 1.0;                                       // share of the traces that begin here; others are as their caller says
  std::size_t queue_max = 2048;                              // spans that wait; more are dropped and counted
  std::size_t batch_max = 512;                               // spans
  std::chrono::milliseconds interval{1'000};                 // between batches that are not full
  std::chrono::milliseconds timeout{10'000};                 // of one batch, with its retries
};

// What the configuration says; empty or 0: nothing, so OpenTelemetry's variables decide.
struct Configured {
  std::string endpoint;  // base URL of a collector, to which /v1/traces is appended
  std::string headers;   // "name=value,name=value"
  std::string service;
  double sample = 1.0;
};

// The configuration first, then OTEL_EXPORTER_OTLP_TRACES_ENDPOINT (as it is) or OTEL_EXPORTER_OTLP_ENDPOINT (with /v1/traces appended),
// the same for _HEADERS, _CERTIFICATE and _TIMEOUT, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES; OTEL_SDK_DISABLED=true and
// OTEL_TRACES_EXPORTER=none turn it off. kInvalidArgument: a value makes no sense; the message names where it stands, never a header's
// value.
[[nodiscard]] Result<Settings> trace_settings(const Configured& configured, const Environment& environment, std::string version);

}  // namespace margin::trace
