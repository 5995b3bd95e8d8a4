// A store exchanged for a copy that is ready, so that at every moment one of the two is there whole: for SqliteLog::restore.
#pragma once

#include <string>

#include "margin/result.h"

namespace margin::internal {

// Puts a finished file and its name on the disk. kUnavailable: the disk does not take it.
[[nodiscard]] Status put_file_on_disk(const std::string& path);

// Puts the file `ready` in the place of `store`, whose lease the caller has. What stood there goes after that; until then it stands aside
// as STORE.replaced, and comes back when something fails. When the process is cut off in between, a server refuses to start, and the next
// call goes on from there. kUnavailable: a file cannot be moved, and the old store is where it was; or the disk fails.
[[nodiscard]] Status replace_store(const std::string& ready, const std::string& store);

// kUnavailable: a replacement of the store was cut off, and the file that tells so.
[[nodiscard]] Status check_replacement_is_over(const std::string& store);

}  // namespace margin::internal
