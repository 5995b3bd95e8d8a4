// Parameters in snapshots of calibrators and votes.
#pragma once

#include "base/encoding.h"
#include "margin/parameter.h"

namespace margin::internal {

void encode(const Parameters& parameters, Encoder& out);
[[nodiscard]] Parameters decode_parameters(Decoder& in);

}  // namespace margin::internal
