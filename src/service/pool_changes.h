// What makes two configurations of a pool differ, in words for the operator's log. Used where a file changes a pool that runs.
#pragma once

#include <string>

#include "margin/event.h"

namespace margin::service {

struct PoolChanges {
  std::string keys;  // "vote: sum@1 -> majority@1, audit_rate: 0 -> 0.1"; empty: they are the same
  std::string lost;  // what was learned and is lost by it; empty: nothing
};

// Both with every parameter spelled out.
[[nodiscard]] PoolChanges pool_changes(const PoolConfigured& before, const PoolConfigured& after);

// `config` with the bounds of another: models, cells, responses, and decisions and outcomes that wait.
[[nodiscard]] PoolConfigured with_bounds_of(PoolConfigured config, const PoolConfigured& other);

}  // namespace margin::service
