// Daemon: a server from its first line to its last: opens the store, recovers, listens, reloads on SIGHUP, drains on SIGTERM. `margin
// serve` is its flags.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/config.h"
#include "margin/result.h"

namespace margin::server {

struct DaemonOptions {
  std::string config_file;  // empty: none
  config::Environment environment;
  std::optional<std::string> listen;  // flags win over the file
  std::optional<std::string> store;
  bool demo = false;  // simulated models decide and get outcomes in a pool of their own
  std::string version;
  std::string commit;
  // Told once it listens, for people: the address as a URL.
  std::function<void(const std::string& url)> listening;
};

// Serves until a signal ends it. Errors: a bad configuration, an address that cannot be had or may not be (without keys only loopback), a
// store that is in use, damaged or newer than this program.
[[nodiscard]] Status serve(const DaemonOptions& options);

}  // namespace margin::server
