// `margin version`.
#include "cli/version.h"

#include "cli/command.h"

namespace margin::cli {

std::string_view version() { return MARGIN_VERSION; }
std::string_view commit() { return MARGIN_COMMIT; }

Command add_version(CLI::App& root) {
  CLI::App* app = root.add_subcommand("version", "Print the version");
  return {app, [] { return print("margin " + std::string(version()) + "\n"); }};
}

}  // namespace margin::cli
