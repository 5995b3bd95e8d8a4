// "NAME" or "NAME@VERSION": how people name a calibrator or a vote. Used by both registries.
#pragma once

#include <charconv>
#include <string_view>

namespace margin::internal {

struct VersionedName {
  std::string_view identifier;
  int version = 0;  // 0: the newest
};

[[nodiscard]] inline VersionedName parse_versioned(std::string_view name) {
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos) return {name, 0};
  int version = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + at + 1, end, version);
  if (error != std::errc() || rest != end || version < 1) return {name, 0};  // no identifier has an @: it will not be found
  return {name.substr(0, at), version};
}

}  // namespace margin::internal
