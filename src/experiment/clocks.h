// Clocks: when margin_adaptive's own clocks noticed a shift (margin/clock_alarm.h), in a log and on simulated courses whose shifts are
// known. `margin experiment watch` and `gaming` show it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "experiment/stream.h"
#include "margin/clock_alarm.h"

namespace margin::experiment {

inline constexpr std::string_view kClocked = "margin_adaptive";

struct ClockAlarmAt {
  std::uint64_t task = 0;  // of the stream, from 1: whose outcome completed the evidence
  ClockAlarm alarm;
};

// All alarms of one pass over a stream in its order, every outcome learned at once. Each segment has clocks of its own.
[[nodiscard]] std::vector<ClockAlarmAt> clock_alarms_in(const Stream& stream);

// Alarms of some clocks over many runs with a change in the middle.
struct ClockTally {
  static constexpr std::uint64_t kSoon = 100;  // tasks

  std::string_view whose;
  std::array<std::uint64_t, 2> alarms{};  // in the first half of the runs, and in the second
  std::array<std::uint32_t, 2> soon{};    // runs with one in the last kSoon tasks before the middle, and in the first kSoon after it
  std::vector<std::uint64_t> delays;      // tasks from the middle to the first alarm, of the runs that have one; ascending
};

// The clock that the models share, the models' own clocks, and apart from these that of `subject`, when it is a model. A run is all its
// alarms; `tasks` is the length of each.
[[nodiscard]] std::vector<ClockTally> tally_clocks(std::span<const std::vector<ClockAlarmAt>> runs, std::uint64_t tasks, ModelId subject);

}  // namespace margin::experiment
