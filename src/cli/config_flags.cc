#include "cli/config_flags.h"

#include <unistd.h>

#include <string_view>

namespace margin::cli {

void ConfigFlags::add_to(CLI::App& app) {
  app.add_option("--config", path, "The configuration; without it margin.toml of this folder, when there is one")->type_name("FILE");
  app.add_option("--store", store, "The store's file, instead of the configured one")->type_name("FILE");
}

Result<config::Config> ConfigFlags::load() const {
  Result<config::Config> config = config::load_config(config_path(path), environment());
  if (config && !store.empty()) config->store.file = store;
  return config;
}

config::Environment environment() {
  config::Environment variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::string config_path(const std::string& path) {
  const bool there = access(kConfigFile, F_OK) == 0;
  return path.empty() && there ? kConfigFile : path;
}

}  // namespace margin::cli
