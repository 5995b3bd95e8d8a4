// --config and --store, and the configuration they lead to. The only place that asks the process for its environment.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "config/config.h"
#include "margin/result.h"

namespace margin::cli {

// What a configuration is called when nobody says.
inline constexpr const char* kConfigFile = "margin.toml";

struct ConfigFlags {
  std::string path;   // empty: margin.toml of this folder, when there is one
  std::string store;  // empty: as configured

  void add_to(CLI::App& app);
  // Defaults, file, environment, flags, the later winning. Errors as config::load_config.
  [[nodiscard]] Result<config::Config> load() const;
};

[[nodiscard]] config::Environment environment();
// `path`, or margin.toml when `path` is empty and there is one.
[[nodiscard]] std::string config_path(const std::string& path);

}  // namespace margin::cli
