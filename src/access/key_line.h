// A key as a line of the file of keys, in both directions. Used by key_ring.cc.
#pragma once

#include <string>
#include <string_view>

#include "access/key.h"
#include "margin/result.h"

namespace margin::access {

// One JSON object, without the line end.
[[nodiscard]] std::string key_line(const Key& key);

// kCorrupt: not such an object, a field missing, unknown, stated twice or out of range.
[[nodiscard]] Result<Key> parse_key_line(std::string_view line);

}  // namespace margin::access
