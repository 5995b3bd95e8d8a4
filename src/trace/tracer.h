// Tracer: begins traces or continues those of callers, keeps finished spans for a moment and posts them in batches to a collector.
// Never waits and never blocks: what does not fit is dropped and counted. On the loop's thread only. Used by the gateway and the server.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/loop.h"
#include "margin/random.h"
#include "margin/result.h"
#include "trace/settings.h"
#include "trace/span.h"
#include "upstream/upstream.h"

namespace margin::trace {

struct Counters {
  std::uint64_t exported = 0;
  std::uint64_t dropped = 0;  // there was no room
  std::uint64_t refused = 0;  // the collector did not take them, or was not there
  std::size_t waiting = 0;
};

class Tracer {
 public:
  // `complain` hears when the collector stops taking spans, and when it takes them again. kInvalidArgument: the url; kNotFound, kCorrupt:
  // the CA file. Without a url nothing is recorded and contexts are passed on as they came.
  [[nodiscard]] static Result<std::unique_ptr<Tracer>> make(http::Loop& loop, Settings settings, const Environment& environment,
                                                            std::uint64_t seed, std::function<void(const std::string&)> complain);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  [[nodiscard]] bool enabled() const { return collector_ != nullptr; }
  // A span's place below `parent`.
  [[nodiscard]] Context child_of(const Context& parent);
  // The place of the first span of a trace that begins here. The id alone decides whether it is sampled, so that what comes later in the
  // same trace is too.
  [[nodiscard]] Context begin(Uuid trace);

  // A finished span; dropped when its trace is not sampled.
  void add(Span span);
  // Sends what waits; `done` is called, once, when that is over or after `patience`.
  void flush(std::chrono::milliseconds patience, std::function<void()> done);

  [[nodiscard]] const Counters& counters() const { return counters_; }
  // Nanoseconds since 1970.
  [[nodiscard]] static std::int64_t now_ns();

 private:
  Tracer(http::Loop& loop, Settings settings, std::uint64_t seed, std::function<void(const std::string&)> complain);
  void send();
  void on_sent(std::size_t spans, const upstream::Outcome& outcome);
  void schedule();
  void finish_flush();

  http::Loop& loop_;
  const Settings settings_;
  Random random_;
  std::function<void(const std::string&)> complain_;
  std::unique_ptr<upstream::Upstream> collector_;
  upstream::Call call_;
  bool sending_ = false;
  bool scheduled_ = false;
  bool failing_ = false;
  std::deque<Span> waiting_;
  http::Timer timer_;
  http::Timer patience_;
  std::function<void()> flushed_;
  Counters counters_;
};

}  // namespace margin::trace
