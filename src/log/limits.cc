#include "log/limits.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/digest_stream.h"
#include "base/text.h"
#include "log/codec.h"

namespace margin::internal {

void forget_answers(EventBody& body) {
  if (auto* decision = std::get_if<DecisionMade>(&body)) {
    for (RecordedResponse& response : decision->responses) response.answer_text.clear();
  }
  if (auto* outcome = std::get_if<OutcomeObserved>(&body); outcome != nullptr && outcome->gold) outcome->gold->clear();
}

Status check_read(const PoolPosition& position, std::uint64_t from) {
  if (from >= position.first) return {};
  return {ErrorCode::kNotFound, "pool " + printable(position.pool) + ": event " + std::to_string(from) +
                                    " was compacted away, the first retained is " + std::to_string(position.first)};
}

namespace {

std::string name_of(std::string_view pool, std::uint64_t offset) {
  return "pool " + printable(pool) + ": a snapshot at " + std::to_string(offset);
}

Status check_digest(std::string_view pool, std::uint64_t offset, const Digest& found, const Digest& wanted) {
  if (found == wanted) return {};
  return {ErrorCode::kInvalidArgument, name_of(pool, offset) + ": its digest is not that of its bytes"};
}

}  // namespace

Status check_place(const PoolPosition& position, std::uint64_t offset) {
  const std::string what = name_of(position.pool, offset);
  if (offset > position.next) {
    return {ErrorCode::kConflict,
            what + " is beyond the end of the log, " + std::to_string(position.next) + ": an old log under a newer state"};
  }
  if (offset < position.first) {
    return {ErrorCode::kConflict, what + " is before the first retained event, " + std::to_string(position.first)};
  }
  return {};
}

Result<Digest> check_bytes(std::string_view pool, const SnapshotToKeep& snapshot, const Pause& pause) {
  DigestStream stream;
  for (const std::string& piece : snapshot.pieces) {
    stream.add(piece);
    if (pause) pause();
  }
  const Digest digest = stream.digest();
  if (Status status = check_digest(pool, snapshot.offset, digest, snapshot.digest.value_or(digest)); !status) return status.error();
  return digest;
}

Status check_snapshot(const PoolPosition& position, const StoredSnapshot& snapshot) {
  if (Status status = check_place(position, snapshot.offset); !status) return status;
  return check_digest(position.pool, snapshot.offset, digest_of(snapshot.bytes), snapshot.digest);
}

Status check_compaction(std::string_view pool, std::uint64_t before, std::optional<std::uint64_t> latest) {
  if (latest && before <= *latest) return {};
  return {ErrorCode::kConflict, "pool " + printable(pool) + ": compacting before " + std::to_string(before) +
                                    " needs a snapshot at or after it, and the latest is " +
                                    (latest ? "at " + std::to_string(*latest) : "absent") + "; the state could not be recovered"};
}

Result<std::string> audited(std::string_view bytes, std::string_view pool, std::uint64_t offset, AuditKept kept) {
  if (kept == AuditKept::kNothing) return std::string();
  if (kept == AuditKept::kEverything) return std::string(bytes);
  Result<Record> record = decode(bytes, pool, offset);
  if (!record) return record.error();
  forget_answers(record->event.body);
  std::string out;
  encode(record->event, record->mark, record->note, out);
  return out;
}

}  // namespace margin::internal
