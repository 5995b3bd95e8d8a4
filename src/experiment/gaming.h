// Gaming: simulated attackers and honest pools before the watch. How surely and how soon is each attacker reported, and how often is
// somebody reported who did nothing?
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/clocks.h"
#include "experiment/parallel.h"
#include "experiment/stream.h"
#include "margin/watch.h"

namespace margin::experiment {

inline constexpr std::size_t kWatchKinds = static_cast<std::size_t>(WatchKind::kSourceDisagrees) + 1;

// The tasks of a stream in file order, as the watch takes them. A log does not say when outcomes became known, nor from whom.
[[nodiscard]] std::vector<std::vector<WatchedResponse>> watched_tasks(const Stream& stream);

// What the watch, and beside it the clocks of a calibrator, say of one channel.
struct WatchedStream {
  std::string channel;
  std::vector<std::string> models;
  std::uint64_t tasks = 0;
  std::vector<WatchReport> reports;
  std::uint64_t dropped = 0;
  std::vector<ClockAlarmAt> clocks;
};
// kLimit: more models than the options allow.
[[nodiscard]] Result<WatchedStream> watch_stream(const Stream& stream, const WatchOptions& options);

// A pool of six simulated models; from the middle of the run on, one or two of them may play foul.
struct GamingScenario {
  std::string_view name;
  std::string_view words;
  std::string_view cohort;        // of dataset::simulate
  std::optional<WatchKind> kind;  // what should be reported; none: the pool is honest
  std::uint32_t subject = WatchReport::kNobody;
  std::uint32_t other = WatchReport::kNobody;
};
[[nodiscard]] std::span<const GamingScenario> gaming_scenarios();

struct GamingOptions {
  std::uint32_t runs = 200;
  std::uint32_t tasks = 2000;
  std::uint64_t seed = 1;
  WatchOptions watch;
  Threads threads;
};

// All reports of one run.
[[nodiscard]] std::vector<WatchReport> watch_scenario(const GamingScenario& scenario, const GamingOptions& options, std::uint64_t seed);

struct GamingResult {
  GamingScenario scenario;
  std::uint32_t runs = 0;
  std::uint32_t found = 0;                            // runs in which the attacker was reported after the start
  std::vector<std::uint64_t> delays;                  // of those, in tasks from the start, ascending
  std::array<std::uint64_t, kWatchKinds> reported{};  // by kind: runs with such a report about somebody who did not do that
  std::vector<ClockTally> clocks;                     // where what changes is accuracy: a calibrator sees nothing else
};

// One result per scenario, independent of the number of threads. nullopt when stopped.
[[nodiscard]] std::optional<std::vector<GamingResult>> run_gaming(const GamingOptions& options, Progress* progress = nullptr);

}  // namespace margin::experiment
