// What is left of a damaged tail and journal, kept for people when a server starts without the events that are gone from them.
#pragma once

#include <string>

#include "margin/result.h"

namespace margin::internal {

// Copies STORE-wal, STORE.tail0 and STORE.tail1, those that hold something, each to its name with ".damaged1" behind it; the next time
// 2, up to 4: after that nothing is kept and nothing earlier is overwritten. Says what it did, for a warning.
// kUnavailable: a file cannot be copied.
[[nodiscard]] Result<std::string> keep_damaged(const std::string& store);

}  // namespace margin::internal
