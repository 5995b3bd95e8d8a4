// `margin config`: is a configuration right, and what may stand in one.
#include "config/config.h"

#include <memory>
#include <string>

#include "base/text.h"
#include "cli/config_flags.h"
#include "cli/group.h"
#include "cli/server_commands.h"
#include "server/daemon.h"

namespace margin::cli {
namespace {

int check(const std::string& given) {
  const std::string path = config_path(given);
  const Result<config::Config> config = config::load_config(path, environment());
  if (!config) return complain(config.error().message);
  if (const Status served = server::check(*config, environment()); !served) return complain(served.error().message);
  std::string text =
      path.empty() ? "No file, the defaults and the environment are used.\n" : internal::printable(path, 400) + " is right.\n";
  const std::vector<config::Change> changed = config::changes(config::default_config(), *config);
  text += changed.empty() ? "Everything is as by default.\n" : "Other than by default:\n";
  for (const config::Change& change : changed) text += "  " + internal::printable(change.key + " = " + change.after, 400) + "\n";
  return print(text);
}

Command add_check(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("check", "Name every fault of a configuration, or what it changes");
  const auto path = std::make_shared<std::string>();
  app->add_option("FILE", *path, "The configuration; without it margin.toml of this folder, when there is one")->type_name("");
  return {app, [path] { return check(*path); }};
}

Command add_sample(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("sample", "Print a documented configuration with every key and its default");
  return {app, [] { return print(config::sample()); }};
}

Command add_schema(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("schema", "Print the JSON Schema of a configuration, for editors");
  return {app, [] { return print(config::schema()); }};
}

}  // namespace

Command add_config(CLI::App& root) {
  CLI::App* app = root.add_subcommand("config", "Check a configuration, or print a sample of one or its schema");
  return group(app, "what to do", {add_check(*app), add_sample(*app), add_schema(*app)});
}

}  // namespace margin::cli
