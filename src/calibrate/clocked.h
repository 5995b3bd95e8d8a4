// Clocked: what a calibrator is besides when it has clocks of its own; margin_adaptive is, clock_alarms() asks.
#pragma once

#include <span>

#include "margin/clock_alarm.h"

namespace margin::internal {

class Clocked {
 public:
  // Of the latest observation.
  [[nodiscard]] virtual std::span<const ClockAlarm> latest_alarms() const = 0;

 protected:
  Clocked() = default;
  ~Clocked() = default;
};

}  // namespace margin::internal
