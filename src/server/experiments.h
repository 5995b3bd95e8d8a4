// Experiments: logs that a caller sent, replayed by a child process of this very program with bounds on its time, memory and files. One at
// a time; the latest few and their reports are kept in memory. Nothing here reads a path that a caller named.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "margin/result.h"
#include "margin/uuid.h"

namespace margin::server {

struct ExperimentLimits {
  std::string program = "/proc/self/exe";  // asked to `replay`
  std::size_t log_bytes_max = std::size_t{32} << 20;
  std::size_t report_bytes_max = std::size_t{8} << 20;
  std::size_t kept = 5;
  std::chrono::seconds cpu{120};
  std::chrono::seconds wall{180};
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
};

struct Experiment {
  enum class Status : std::uint8_t { kRunning, kDone, kFailed };

  Uuid id;
  std::string tenant;  // whose it is
  std::string name;    // for people, as the caller gave it
  std::size_t log_bytes = 0;
  std::int64_t started_ms = 0;
  Status status = Status::kRunning;
  double seconds = 0.0;  // how long it took, once done
  std::string message;   // why it failed
  std::string report;    // HTML
};

struct ExperimentRequest {
  Uuid id;
  std::string tenant;
  std::string name;
  bool csv = false;
  std::string methods;  // a,b,...; empty: those of `margin replay`
  std::string log;
  std::int64_t now_ms = 0;
};

// Functions are called on one thread; a thread of its own waits for the child.
class Experiments {
 public:
  explicit Experiments(ExperimentLimits limits = {}) : limits_(std::move(limits)) {}
  // Ends what still runs.
  ~Experiments();
  Experiments(const Experiments&) = delete;
  Experiments& operator=(const Experiments&) = delete;

  [[nodiscard]] const ExperimentLimits& limits() const { return limits_; }
  // kConflict: one runs already; kInvalidArgument: names of methods with letters that no method has; kUnavailable: no room to run it.
  Status start(ExperimentRequest request);
  // Those of the tenant, the newest first; without their reports.
  [[nodiscard]] std::vector<Experiment> list(std::string_view tenant) const;
  [[nodiscard]] std::optional<Experiment> find(Uuid id, std::string_view tenant) const;

 private:
  struct Child;
  void watch(Uuid id, const Child& child, std::chrono::steady_clock::time_point began);
  void finish(Uuid id, double seconds, std::string message, std::string report);

  ExperimentLimits limits_;
  mutable std::mutex mutex_;
  std::deque<Experiment> experiments_;  // the newest first; guarded by mutex_
  bool running_ = false;                // guarded by mutex_
  bool stop_ = false;                   // guarded by mutex_
  std::thread watcher_;
};

}  // namespace margin::server
