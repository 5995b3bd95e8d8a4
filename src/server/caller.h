// Caller: who asks, as far as handlers need to know. Made from the request's key by the application, never from anything a client says.
#pragma once

#include <string>
#include <string_view>

#include "access/key.h"

namespace margin::server {

struct Caller {
  std::string key{};     // its public part; empty: none is configured
  std::string tenant{};  // empty: all pools are theirs
  std::string source{};  // provenance of feedback: the public part of the key, or "local" where no key is configured
  std::string name{};    // of the key, for people; two keys may share it
  double weight = 1.0;   // of their feedback; 0: recorded, never learned
  access::Scopes scopes{};

  // Under which its chats' spending is counted.
  [[nodiscard]] std::string account() const { return tenant + "/" + source; }

  // Pools of a tenant are stored under its name, so nobody can name another's.
  [[nodiscard]] std::string prefix() const { return tenant.empty() ? "" : tenant + "/"; }
  [[nodiscard]] std::string stored(std::string_view pool) const { return tenant.empty() ? std::string(pool) : prefix().append(pool); }
  // The pool's name as this caller knows it.
  [[nodiscard]] std::string shown(std::string_view pool) const { return std::string(pool.substr(prefix().size())); }
  [[nodiscard]] bool owns(std::string_view pool) const { return pool.starts_with(prefix()); }
};

}  // namespace margin::server
