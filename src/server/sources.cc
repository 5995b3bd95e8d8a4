#include "server/sources.h"

#include <algorithm>

namespace margin::server {
namespace {

// Keys that the caller may know of, by their name.
std::vector<const access::Key*> keys_named(const access::KeyRing& keys, const Caller& caller, std::string_view name) {
  std::vector<const access::Key*> named;
  for (const access::Key& key : keys.keys()) {
    const bool visible = caller.tenant.empty() || key.grant.tenant == caller.tenant;
    if (visible && key.grant.name == name) named.push_back(&key);
  }
  return named;
}

}  // namespace

bool is_own(const access::KeyRing& keys, const Caller& caller, std::string_view source) {
  if (source == caller.source) return true;
  return source == caller.name && keys_named(keys, caller, source).size() == 1;
}

Result<std::vector<std::string>> sources_named(const access::KeyRing& keys, const Caller& caller, std::string_view text) {
  const auto is_id = [&](const access::Key& key) { return key.id == text; };
  std::vector<std::string> sources{std::string(text)};
  if (std::any_of(keys.keys().begin(), keys.keys().end(), is_id)) return sources;
  const std::vector<const access::Key*> named = keys_named(keys, caller, text);
  if (named.size() > 1) {
    std::string ids;
    for (const access::Key* key : named) ids += (ids.empty() ? "" : ", ") + key->id;
    return {ErrorCode::kUnsupported, "source: several keys have this name; expected the public part of one: " + ids};
  }
  if (named.size() == 1) sources.push_back(named.front()->id);
  return sources;
}

}  // namespace margin::server
