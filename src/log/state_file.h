// StateFile: the state of one pool as a file, to carry from one deployment to another. `margin state export` writes it, import, merge and
// diff read it. docs/event_log.md has its layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "margin/digest.h"
#include "margin/result.h"

namespace margin {

struct StateFile {
  std::string pool;          // its name where it was exported
  std::uint64_t offset = 0;  // events folded into it there
  std::string snapshot;      // Pool::snapshot()
};

// The first bytes of every state file.
inline constexpr std::string_view kStateFileMagic = "MARGIN STATE\n";

[[nodiscard]] std::string encode_state_file(const StateFile& state);
// kCorrupt: no state file, cut off or changed; kUnsupported: of a newer margin.
[[nodiscard]] Result<StateFile> decode_state_file(std::string_view bytes);

}  // namespace margin
