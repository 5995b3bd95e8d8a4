#include "margin/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/digest_stream.h"
#include "base/hex.h"

namespace margin {
namespace {

Digest from(const XXH128_hash_t& hash) { return {hash.high64, hash.low64}; }

}  // namespace

std::string Digest::hex() const { return internal::hex(high) + internal::hex(low); }

Digest digest_of(std::string_view bytes) { return from(XXH3_128bits(bytes.data(), bytes.size())); }

namespace internal {

struct DigestStream::State : XXH3_state_t {};

DigestStream::DigestStream() : state_(std::make_unique<State>()) { XXH3_128bits_reset(state_.get()); }
DigestStream::~DigestStream() = default;
void DigestStream::add(std::string_view bytes) { XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()); }
Digest DigestStream::digest() const { return from(XXH3_128bits_digest(state_.get())); }

}  // namespace internal

}  // namespace margin
