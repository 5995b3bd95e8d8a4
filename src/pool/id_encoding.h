// Ids and digests in a pool's snapshot.
#pragma once

#include "base/encoding.h"
#include "margin/digest.h"
#include "margin/uuid.h"

namespace margin::internal {

inline void encode(Uuid id, Encoder& out) { out.values(id.high, id.low); }
[[nodiscard]] inline Uuid decode_uuid(Decoder& in) {
  const auto high = in.integer<std::uint64_t>();
  return {high, in.integer<std::uint64_t>()};
}

inline void encode(Digest digest, Encoder& out) { out.values(digest.high, digest.low); }
[[nodiscard]] inline Digest decode_digest(Decoder& in) {
  const auto high = in.integer<std::uint64_t>();
  return {high, in.integer<std::uint64_t>()};
}

}  // namespace margin::internal
