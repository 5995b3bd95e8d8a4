// A command that is a group of commands: `margin experiment NAME`, `margin keys create`.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace margin::cli {

// `app` as a command whose first argument is one of `commands`; without one it complains that it expected `what`.
Command group(CLI::App* app, std::string what, std::vector<Command> commands);

}  // namespace margin::cli
