// Metrics: what Prometheus reads. Counts are kept as they happen and figures of pools are maintained elsewhere, so a scrape reads and
// scans nothing. docs/server.md#figures lists the names.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "server/caller.h"

namespace margin::server {

class App;

// Counts of durations by upper bound.
class DurationHistogram {
 public:
  // Seconds; from what a decision costs to what an operator calls hung.
  static constexpr std::array kBounds = {25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 1.0, 10.0};

  void add(double seconds);
  // Lines of the exposition; `labels` without brackets, may be empty.
  void render(std::string& out, std::string_view name, const std::string& labels) const;

 private:
  std::array<std::uint64_t, kBounds.size() + 1> counts_{};
  double sum_ = 0.0;
};

class Metrics {
 public:
  Metrics();

  // `endpoint` is a pattern of the route table, so its values are few whatever clients ask for, and each has an address of its own.
  void request(std::string_view endpoint, int status, std::chrono::nanoseconds took);
  void rate_limited() { ++rate_limited_; }
  // What a chat took beyond waiting for its models.
  void overhead(std::chrono::nanoseconds took) { overhead_.add(std::chrono::duration<double>(took).count()); }

  // Of pools only the caller's.
  [[nodiscard]] std::string render(App& app, const Caller& caller) const;

 private:
  std::map<std::pair<std::string_view, int>, std::uint64_t> requests_;
  std::map<std::string_view, DurationHistogram> durations_;
  // Where the latest request was counted: the next one mostly belongs there, too.
  struct Latest {
    std::string_view endpoint;
    int status = 0;
    std::uint64_t* requests = nullptr;
    DurationHistogram* durations = nullptr;
  };
  Latest latest_;
  DurationHistogram overhead_;
  std::uint64_t rate_limited_ = 0;
  std::int64_t started_s_;
};

}  // namespace margin::server
