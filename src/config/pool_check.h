// Whether the settings of one pool make sense: names, methods, their parameters. Used while loading.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/faults.h"

namespace margin::config {

inline constexpr std::string_view kCalibratorParameters = "calibrator_parameters";
inline constexpr std::string_view kVoteParameters = "vote_parameters";

// Every key that may stand under [pools.NAME].
[[nodiscard]] std::vector<std::string> pool_keys();

// A pool as the log knows it, TENANT/NAME for a tenant's: what requests can name, so that no pool is made that nobody reaches.
// kInvalidArgument.
[[nodiscard]] Status check_pool_name(std::string_view stored);
// 1 to 128 letters, digits, '_', '-', '.' and '/', beginning with a letter or digit. kInvalidArgument.
[[nodiscard]] Status check_upstream_name(std::string_view name);

// Adds every fault of the methods and parameters. `path` is "pools.NAME"; `place_of` tells where a key of the pool was stated, "vote" or
// "vote_parameters.scale".
void check_pool(const PoolSettings& pool, const std::string& path, const std::function<Place(const std::string&)>& place_of,
                Faults& faults);

}  // namespace margin::config
