#include "margin/sureness.h"

#include <cstddef>

namespace margin {

std::string_view name_of(TrustStatus status) {
  constexpr std::string_view kNames[] = {"cold", "drifting", "stale", "calibrated"};
  return kNames[static_cast<std::size_t>(status)];
}

}  // namespace margin
