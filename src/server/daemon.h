// Daemon: a server from its first line to its last: opens the store, recovers, listens, reloads on SIGHUP, drains on SIGTERM. `margin
// serve` is its flags.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/config.h"
#include "margin/result.h"

namespace margin::server {

// Where it listens, as URLs.
struct Addresses {
  std::string main;
  std::string operators;  // empty: they have no listener of their own
};

struct DaemonOptions {
  std::string config_file;  // empty: none
  config::Environment environment;
  std::optional<std::string> listen;  // flags win over the file
  std::optional<std::string> admin_listen;
  std::optional<std::string> store;
  bool demo = false;  // simulated models decide and get outcomes in a pool of their own
  std::string version;
  std::string commit;
  // Told once it listens, for people.
  std::function<void(const Addresses& addresses)> listening;
};

// What serve() would refuse of a configuration that was loaded before it opens the store: upstreams, where traces go, certificates, secrets
// that cannot be had here, addresses that need keys. Every fault, a line each: kInvalidArgument.
[[nodiscard]] Status check(const config::Config& config, const config::Environment& environment);

// Serves until a signal ends it. Errors: a bad configuration, an address that cannot be had or may not be (without keys only loopback), a
// store that is in use, damaged or newer than this program.
[[nodiscard]] Status serve(const DaemonOptions& options);

}  // namespace margin::server
