// How the bytes of a pool's snapshot begin. A state is written in the oldest format that can say it, so that its digest stays what it was.
// Used by pool/snapshot.cc, and by the log for the records that hold one.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/encoding.h"

namespace margin::internal {

inline constexpr std::uint32_t kFixedSnapshot = 0x4d504c32;     // "MPL2", which is still read: decisions had another layout
inline constexpr std::uint32_t kPackedSnapshot = 0x4d504c33;    // "MPL3"
inline constexpr std::uint32_t kMaxErrorSnapshot = 0x4d504c34;  // "MPL4": and the configuration has a max_error below 1
inline constexpr std::uint32_t kNewestSnapshot = kMaxErrorSnapshot;

// 0: too short for one.
[[nodiscard]] inline std::uint32_t snapshot_format(std::string_view bytes) {
  Decoder in(bytes);
  const auto format = in.integer<std::uint32_t>();
  return in.ok() ? format : 0;
}

// The format of a later margin: "MPL5" to "MPL9".
[[nodiscard]] constexpr bool is_newer_snapshot(std::uint32_t format) {
  return format > kNewestSnapshot && format <= (kNewestSnapshot | 0xff) && (format & 0xff) <= '9';
}

}  // namespace margin::internal
