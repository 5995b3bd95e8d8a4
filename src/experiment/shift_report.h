// How shift results are shown: means per condition and method, and who beats whom.
#pragma once

#include <span>
#include <string>

#include "experiment/shift.h"
#include "experiment/shift_pools.h"
#include "margin/result.h"
#include "report/html.h"

namespace margin::experiment {

struct ShiftSetting {
  ShiftOptions options;
  std::string boundary;  // as named
  std::string focus;     // the method that is compared with every other
  std::string vote;
};

// kNotFound: the focus is not among the methods.
[[nodiscard]] Result<report::Report> shift_report(std::span<const ConditionResult> conditions, const ShiftSetting& setting);

// A section per pool size.
[[nodiscard]] report::Report shift_pools_report(std::span<const ShiftGroup> groups, const ShiftSetting& setting);

}  // namespace margin::experiment
