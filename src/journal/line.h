// One line of the journal as text. Used by journal.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "journal/journal.h"

namespace margin::journal {

struct Line {
  std::int64_t time_ms = 0;
  Level level = Level::kInfo;
  std::string_view message;
  std::span<const Field> details;
};

// With its line end, at most Journal::kLineBytesMax bytes.
[[nodiscard]] std::string pretty_line(const Line& line, bool colour);
[[nodiscard]] std::string json_line(const Line& line);

}  // namespace margin::journal
