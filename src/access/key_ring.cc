#include "access/key_ring.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "access/key_line.h"
#include "file/file.h"

namespace margin::access {
namespace {

constexpr std::size_t kFileBytesMax = kKeysMax * 1024;

// Loads, lets `change` alter the ring, and writes it, all under the lock that every writer takes.
template <class Change>
Status rewrite(const std::string& named, const Change& change) {
  const std::string path = file::behind(named);
  const Result<file::Lock> lock = file::Lock::take(path + ".lock");
  if (!lock) return lock.error();
  Result<KeyRing> ring = KeyRing::load(path);
  if (!ring) return ring.error();
  if (Status changed = change(*ring); !changed) return changed;
  return file::replace_private(path, ring->text());
}

}  // namespace

Result<KeyRing> KeyRing::parse(std::string_view text, std::string_view name) {
  KeyRing ring;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty()) continue;
    const auto place = [&] { return std::string(name) + ":" + std::to_string(line) + ": "; };
    Result<Key> key = parse_key_line(row);
    if (!key) return Error{ErrorCode::kCorrupt, place() + key.error().message};
    if (const Status added = ring.add(*std::move(key)); !added) {
      const bool full = added.error().code == ErrorCode::kLimit;
      return Error{full ? ErrorCode::kLimit : ErrorCode::kCorrupt, place() + added.error().message};
    }
  }
  return ring;
}

Result<KeyRing> KeyRing::load(const std::string& path) {
  const Result<std::string> text = file::read(path, kFileBytesMax);
  if (text) {
    Result<KeyRing> ring = parse(*text, path);
    // Nobody writes one without keys: those who are revoked stay in it. Taken for no file at all, it would open the server to everybody.
    if (ring && ring->empty())
      return Error{ErrorCode::kCorrupt, path + ": is damaged: it holds no key; remove it where there should be none"};
    return ring;
  }
  if (text.error().code == ErrorCode::kNotFound) return KeyRing();
  return text.error();
}

Result<const Key*> KeyRing::authenticate(std::string_view token) const {
  static const Sha256 nobody{};  // no secret hashes to it that anybody could find
  const std::optional<KeyParts> parts = split_key(token);
  if (!parts) return Error{ErrorCode::kInvalidArgument, "expected a key of the form sk-mg-<12 letters and digits>-<48>"};
  const auto found = index_.find(parts->id);
  const Key* key = found == index_.end() ? nullptr : &keys_[found->second];
  const Sha256 sent = sha256(parts->secret);
  const Sha256& kept = key == nullptr ? nobody : key->secret;
  const bool same = CRYPTO_memcmp(sent.data(), kept.data(), sent.size()) == 0;
  if (!same || key == nullptr) return Error{ErrorCode::kNotFound, "the key is not known"};
  if (key->revoked_ms) return Error{ErrorCode::kConflict, "the key was revoked"};
  return key;
}

const Key* KeyRing::find_valid(std::string_view id) const {
  const auto found = index_.find(id);
  return found == index_.end() || keys_[found->second].revoked_ms ? nullptr : &keys_[found->second];
}

bool KeyRing::any_valid() const {
  return std::any_of(keys_.begin(), keys_.end(), [](const Key& key) { return !key.revoked_ms; });
}

std::string KeyRing::text() const {
  std::string text;
  for (const Key& key : keys_) text += key_line(key) + "\n";
  return text;
}

Status KeyRing::add(Key key) {
  if (keys_.size() >= kKeysMax) return {ErrorCode::kLimit, "more than " + std::to_string(kKeysMax) + " keys"};
  if (!index_.emplace(key.id, keys_.size()).second) return {ErrorCode::kConflict, "a second key " + key.id};
  keys_.push_back(std::move(key));
  return {};
}

Status KeyRing::revoke(std::string_view id, std::int64_t now_ms) {
  const auto found = index_.find(id);
  if (found == index_.end()) return {ErrorCode::kNotFound, "no such key"};
  Key& key = keys_[found->second];
  if (key.revoked_ms) return {ErrorCode::kConflict, "already revoked"};
  key.revoked_ms = now_ms;
  return {};
}

Result<std::string> create_key(const std::string& path, const KeyGrant& grant, std::int64_t now_ms) {
  if (const Status legal = check_grant(grant); !legal) return legal.error();
  const Result<std::string> id = random_text(kIdLength);
  const Result<std::string> secret = random_text(kSecretLength);
  if (!id || !secret) return (id ? secret : id).error();
  const Status written =
      rewrite(path, [&](KeyRing& ring) { return ring.add({.id = *id, .grant = grant, .created_ms = now_ms, .secret = sha256(*secret)}); });
  if (!written) return written.error();
  return join_key({*id, *secret});
}

Status revoke_key(const std::string& path, std::string_view id, std::int64_t now_ms) {
  return rewrite(path, [&](KeyRing& ring) { return ring.revoke(id, now_ms); });
}

}  // namespace margin::access
