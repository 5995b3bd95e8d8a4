// How a decision that a pool remembers stands in the pool's snapshot. Nearly all of a large snapshot are such records, so small numbers
// take a byte each, and what most decisions do not have takes none.
#pragma once

#include <cstddef>

#include "base/encoding.h"
#include "pool/decisions.h"

namespace margin::internal {

void save_record(const DecisionRecord& record, Encoder& out);

// The bytes that a record has at the least.
[[nodiscard]] std::size_t record_bytes_min(RecordLayout layout);
// What is not a record of a pool with these bounds makes `in` fail. Whether the id and the time are in order is not looked at.
[[nodiscard]] DecisionRecord load_record(Decoder& in, RecordLayout layout, const Decisions::Bounds& bounds);

}  // namespace margin::internal
