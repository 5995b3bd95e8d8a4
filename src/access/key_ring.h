// KeyRing: the keys of a file, looked up by their public part. The server holds one and replaces it on reload.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "access/key.h"
#include "access/text_hash.h"
#include "margin/result.h"

namespace margin::access {

// A bound on memory and on the time a reload takes.
inline constexpr std::size_t kKeysMax = 10'000;

// Immutable once made, so many threads may ask at once. The pointers that authenticate() gives live as long as the ring.
class KeyRing {
 public:
  KeyRing() = default;

  // The text of a file of keys: one JSON object per line. kCorrupt: file, line and what is wrong; kLimit: too many keys.
  [[nodiscard]] static Result<KeyRing> parse(std::string_view text, std::string_view name);
  // A file that is not there is a ring without keys; one that cannot be read is an error, never an empty ring.
  [[nodiscard]] static Result<KeyRing> load(const std::string& path);

  // Whom a bearer token (what follows "Bearer ") belongs to. kInvalidArgument: not of the form of a key; kNotFound: not a key of this
  // ring; kConflict: revoked. Takes the same time whether the public part is unknown or the secret is wrong.
  [[nodiscard]] Result<const Key*> authenticate(std::string_view token) const;

  [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }
  // Whether there never was a key; one that was revoked is still there.
  [[nodiscard]] bool empty() const { return keys_.empty(); }
  // The key of that public part, unless it was revoked; nullptr: there is none.
  [[nodiscard]] const Key* find_valid(std::string_view id) const;
  // Whether some key is not revoked.
  [[nodiscard]] bool any_valid() const;

  // What parse() reads back.
  [[nodiscard]] std::string text() const;
  // kConflict: there is a key of that id; kLimit: there are too many.
  Status add(Key key);
  // kNotFound: no such id; kConflict: already revoked.
  Status revoke(std::string_view id, std::int64_t now_ms);

 private:
  std::vector<Key> keys_;  // in the order of the file
  std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> index_;
};

// A new key of the file at `path`, which is replaced whole; whoever else changes it meanwhile waits. Returns the key as it is sent, the
// only time it is seen. kInvalidArgument: a bad grant; else as load().
[[nodiscard]] Result<std::string> create_key(const std::string& path, const KeyGrant& grant, std::int64_t now_ms);
// kNotFound: no such key; kConflict: already revoked; else as load().
[[nodiscard]] Status revoke_key(const std::string& path, std::string_view id, std::int64_t now_ms);

}  // namespace margin::access
