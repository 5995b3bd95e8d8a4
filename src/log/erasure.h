// Erasure: the texts of one decision taken out of a store, for a person who asks for it. What the pool's state rests on stays: numbers,
// names of models, digests of answers. Used by SqliteWriter; docs/event_log.md#erasing-one-decision says what remains where.
#pragma once

#include "log/event_log.h"
#include "log/sqlite.h"
#include "margin/result.h"
#include "margin/uuid.h"

namespace margin::internal {

// Within the caller's transaction. Records that follow a changed one get new checksums, so the time is that of reading the pool's log.
// kCorrupt, kUnsupported: a record that cannot be read; kNotFound: nothing of the decision is in the store.
[[nodiscard]] Result<Erasure> erase_texts(Database& database, const Uuid& decision);

}  // namespace margin::internal
