// The settings of a pool as a request gives them: the keys of [pools.NAME] in margin.toml, with the same meaning and checks.
#pragma once

#include "config/config.h"
#include "json/json.h"
#include "margin/event.h"
#include "margin/result.h"

namespace margin::server {

// kInvalidArgument names the field.
[[nodiscard]] Result<PoolConfigured> read_pool_settings(const Json& body, const config::Config& config);

}  // namespace margin::server
