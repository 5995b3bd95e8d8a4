// `margin version`.
#include "cli/command.h"

namespace margin::cli {

Command add_version(CLI::App& root) {
  CLI::App* app = root.add_subcommand("version", "Print the version");
  return {app, [] { return print("margin " MARGIN_VERSION "\n"); }};
}

}  // namespace margin::cli
