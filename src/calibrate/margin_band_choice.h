// margin with bands = 0: as many bands for each model as have served it best so far. Used by margin.cc.
#pragma once

#include <memory>

#include "margin/calibrator.h"

namespace margin::internal {

// `info` is margin's, `resolved` has bands = 0.
[[nodiscard]] std::unique_ptr<Calibrator> make_band_choice(const CalibratorInfo& info, Parameters resolved);

}  // namespace margin::internal
