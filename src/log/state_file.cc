#include "log/state_file.h"

#include "base/encoding.h"

namespace margin {
namespace {

constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kDigestBytes = 16;

}  // namespace

// Magic, version, pool, offset, digest of the snapshot, snapshot; then the digest of all that.
std::string encode_state_file(const StateFile& state) {
  const auto put = [](internal::Encoder& out, const Digest& digest) {
    out.integer(digest.high);
    out.integer(digest.low);
  };
  internal::Encoder body;
  body.integer(kVersion);
  body.text(state.pool);
  body.integer(state.offset);
  put(body, digest_of(state.snapshot));
  body.text(state.snapshot);
  const std::string bytes = std::string(kStateFileMagic) + body.bytes();
  internal::Encoder digest;
  put(digest, digest_of(bytes));
  return bytes + digest.bytes();
}

Result<StateFile> decode_state_file(std::string_view bytes) {
  if (!bytes.starts_with(kStateFileMagic)) return {ErrorCode::kCorrupt, "not a state file"};
  internal::Decoder in(bytes.substr(kStateFileMagic.size()));
  const auto version = in.integer<std::uint32_t>();
  if (in.ok() && version > kVersion) {
    return {ErrorCode::kUnsupported, "a state file of version " + std::to_string(version) + ", this binary reads up to " +
                                         std::to_string(kVersion) + ": it needs a newer margin"};
  }
  const auto digest = [&in] {
    const auto high = in.integer<std::uint64_t>();
    return Digest{high, in.integer<std::uint64_t>()};
  };
  StateFile state;
  state.pool = in.text();
  state.offset = in.integer<std::uint64_t>();
  const Digest of_snapshot = digest();
  state.snapshot = in.text();
  const Digest of_all = digest();
  if (!in.finish("state file").ok()) return {ErrorCode::kCorrupt, "the state file is cut off"};
  if (of_all != digest_of(bytes.substr(0, bytes.size() - kDigestBytes)) || of_snapshot != digest_of(state.snapshot)) {
    return {ErrorCode::kCorrupt, "the state file is damaged: its bytes do not match their checksum"};
  }
  return state;
}

}  // namespace margin
