// Erasure: the texts of decisions taken out of a log, for a person who asks for it. What the pool's state rests on stays: numbers,
// names of models, digests of answers. Used by every EventLog; docs/event_log.md#erasing-one-decision says what remains where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "log/event_log.h"
#include "log/sqlite.h"
#include "margin/result.h"
#include "margin/uuid.h"

namespace margin::internal {

// Is shown the records of the log one by one.
class TextEraser {
 public:
  explicit TextEraser(std::span<const ErasureWanted> wanted);

  // Whether any is wanted from this pool.
  [[nodiscard]] bool concerns(std::string_view pool) const;

  // Whether the record is in the log, or only in its audit.
  enum class Folded { kStill, kNoLonger };
  // Takes the texts out of the record if it is about one of the decisions. Whether it changed; errors of decode.
  [[nodiscard]] Result<bool> erase(std::string& record, std::string_view pool, std::uint64_t offset, Folded folded);

  [[nodiscard]] std::vector<Erasure> erased() && { return std::move(erased_); }

 private:
  const std::span<const ErasureWanted> wanted_;
  std::multimap<Uuid, std::size_t> places_;  // of each decision among those wanted
  std::vector<Erasure> erased_;
};

// Within the caller's transaction. Records that follow a changed one get new checksums, so the time is that of reading the pools' events.
// kCorrupt, kUnsupported: a record that cannot be read.
[[nodiscard]] Status erase_texts(Database& database, TextEraser& eraser);

}  // namespace margin::internal
