// The registry of calibrators. A new method is one file that defines a `Method` and one line in registry.cc.
#pragma once

#include <memory>

#include "margin/calibrator.h"

namespace margin::internal {

// What a method's file offers: what it is, and how to make one from resolved parameters. `check` refuses what no range can express.
struct Method {
  const CalibratorInfo& (*info)();
  std::unique_ptr<Calibrator> (*make)(Parameters resolved);
  Status (*check)(const Parameters& resolved) = nullptr;
};

extern const Method kRaw;
extern const Method kTemperatureScaling;
extern const Method kPlattScaling;
extern const Method kHistogramBinning;
extern const Method kSlidingWindowHistogram;
extern const Method kDecayedHistogram;
extern const Method kWindowedAccuracyReplace;
extern const Method kWindowedAccuracyMultiply;
extern const Method kOnlinePlatt;
extern const Method kAciQuantileScale;
extern const Method kMargin;
extern const Method kMarginAdaptive;
extern const Method kMarginAdaptive2;
extern const Method kMarginAdaptive1;

}  // namespace margin::internal
