// ClockAlarm: a calibrator that adapts its own memory noticed a shift, and a faster clock overwrote what slower ones had learned.
// margin_adaptive has such clocks; docs/calibration.md#margin_adaptive has the sums behind them.
//
//   auto calibrator = margin::make_calibrator("margin_adaptive");
//   calibrator.value()->join(0);
//   margin::Status learned = calibrator.value()->observe({.model = 0, .confidence = 0.95, .outcome = 0.0});
//   for (const margin::ClockAlarm& alarm : margin::clock_alarms(*calibrator.value())) {
//     const bool strong = alarm.evidence > 2.0 * alarm.threshold;
//   }
//
// Unlike a report of margin/watch.h it has already been acted on: forgetting is what it says.
#pragma once

#include <span>

#include "margin/calibrator.h"

namespace margin {

struct ClockAlarm {
  static constexpr ModelId kPool = 0xffffffff;

  ModelId model = kPool;   // whose sums were overwritten; kPool: everybody's, by the clock they share
  double clock = 0.0;      // memory of the clock that kept predicting better, in outcomes of a model
  double slower = 0.0;     // ... of the next slower one, which it beat; that and all slower ones were overwritten
  double evidence = 0.0;   // by how much it was better, cumulated; about a log likelihood ratio
  double threshold = 0.0;  // which it exceeded
};

// Those that the latest observation raised: at most one of the pool, which comes first, and one of its model. They are no part of a
// snapshot, so whoever wants to keep them asks after each observation. Valid until the calibrator changes. Empty for a method without
// clocks.
[[nodiscard]] std::span<const ClockAlarm> clock_alarms(const Calibrator& calibrator);

}  // namespace margin
