// Counts what operator new hands out in this program; linked into the tests that promise not to allocate.
#pragma once

#include <cstddef>

namespace margin::conformance {

// Allocations since the program started.
[[nodiscard]] std::size_t allocations();

}  // namespace margin::conformance
