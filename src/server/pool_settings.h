// The settings of a pool as a request gives them: the keys of [pools.NAME] in margin.toml, with the same meaning and checks.
#pragma once

#include <string>

#include "config/config.h"
#include "json/json.h"
#include "margin/event.h"
#include "margin/result.h"

namespace margin::server {

// `pool`, as it is stored, is not the file's. kInvalidArgument names the field; kConflict: the file has a say in it.
[[nodiscard]] Result<PoolConfigured> read_pool_settings(const Json& body, const config::Config& config, const std::string& pool);

}  // namespace margin::server
