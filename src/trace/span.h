// Span: what was done from when to when, for whom and with what result, in OpenTelemetry's terms. Made by the gateway, sent by Tracer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "trace/context.h"

namespace margin::trace {

using Value = std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;

// Names are ours; values may be hostile and are cut when they are long.
class Attributes {
 public:
  void set(std::string_view name, std::string_view value);
  void set(std::string_view name, const char* value) { set(name, std::string_view(value)); }
  void set(std::string_view name, std::int64_t value) { all_.emplace_back(name, value); }
  void set(std::string_view name, double value) { all_.emplace_back(name, value); }
  void set(std::string_view name, bool value) { all_.emplace_back(name, value); }
  void set(std::string_view name, std::vector<std::string> values);

  [[nodiscard]] const std::vector<std::pair<std::string, Value>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, Value>> all_;
};

enum class Kind { kInternal = 1, kServer = 2, kClient = 3 };  // OTLP's numbers

struct Event {
  std::string name;
  std::int64_t time_ns = 0;  // since 1970, as all times here
  Attributes attributes;
};

struct Span {
  std::string name;
  Kind kind = Kind::kInternal;
  Context context;
  std::uint64_t parent = 0;  // 0: the trace begins with it
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Attributes attributes;
  std::vector<Event> events;
  std::string error;  // not empty: it failed, and why
};

}  // namespace margin::trace
