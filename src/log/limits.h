// Bounds and refusals that every EventLog shares, so that they say the same in the same words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "log/event_log.h"
#include "margin/result.h"

namespace margin::internal {

// A read stops after this many bytes of records, but returns one.
inline constexpr std::size_t kReadBytesMax = std::size_t{16} << 20;
// A read stops after this many records, whatever was asked for.
inline constexpr std::size_t kReadRecordsMax = 65'536;

// kNotFound: `from` is before the first retained offset.
[[nodiscard]] Status check_read(const PoolPosition& position, std::uint64_t from);
// kConflict, kInvalidArgument as EventLog::keep_snapshot says: its place in the log, its bytes, of which this is the digest.
[[nodiscard]] Status check_place(const PoolPosition& position, std::uint64_t offset);
[[nodiscard]] Result<Digest> check_bytes(std::string_view pool, const SnapshotToKeep& snapshot, const Pause& pause = {});
// The same for one that was read.
[[nodiscard]] Status check_snapshot(const PoolPosition& position, const StoredSnapshot& snapshot);
// kConflict as EventLog::compact says; `latest` is the latest snapshot's offset.
[[nodiscard]] Status check_compaction(std::string_view pool, std::uint64_t before, std::optional<std::uint64_t> latest);

// Takes the texts of answers out of an event.
void forget_answers(EventBody& body);
// What the audit keeps of a compacted record: its bytes, or empty for nothing. Errors of decode.
[[nodiscard]] Result<std::string> audited(std::string_view bytes, std::string_view pool, std::uint64_t offset, AuditKept kept);

}  // namespace margin::internal
