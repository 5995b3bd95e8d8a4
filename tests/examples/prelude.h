// Names that an example may use without introducing them: a reader's program has them already.
#pragma once

#include <cstdint>

#include "margin/pool.h"
#include "margin/uuid.h"

namespace {

[[maybe_unused]] const std::int64_t now = 1'700'000'000'000;
[[maybe_unused]] const std::int64_t later = now + 60'000;
[[maybe_unused]] const margin::Uuid id{0x018bcfe568007000, 0x8000000000000001};
[[maybe_unused]] const margin::Uuid id2{0x018bcfe652607000, 0x8000000000000002};

}  // namespace
