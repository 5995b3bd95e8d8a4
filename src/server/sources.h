// Sources of feedback and the keys they are: the public part of a key. Feedback from before that was so has the key's name as its source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "access/key_ring.h"
#include "margin/result.h"
#include "server/caller.h"

namespace margin::server {

// Whether feedback of this source is the caller's own.
[[nodiscard]] bool is_own(const access::KeyRing& keys, const Caller& caller, std::string_view source);

// The sources that a request means by a key's public part, or by its name: that of one key alone, and what is stored under the name.
// kUnsupported: several keys have the name.
[[nodiscard]] Result<std::vector<std::string>> sources_named(const access::KeyRing& keys, const Caller& caller, std::string_view text);

}  // namespace margin::server
