#include "margin/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hex.h"

namespace margin {

std::string Digest::hex() const { return internal::hex(high) + internal::hex(low); }

Digest digest_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

}  // namespace margin
