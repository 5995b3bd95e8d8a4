#include "margin/clock_alarm.h"

#include "calibrate/clocked.h"

namespace margin {

std::span<const ClockAlarm> clock_alarms(const Calibrator& calibrator) {
  const auto* clocked = dynamic_cast<const internal::Clocked*>(&calibrator);
  return clocked == nullptr ? std::span<const ClockAlarm>() : clocked->latest_alarms();
}

}  // namespace margin
