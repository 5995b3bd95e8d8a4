// The commands about a server that main.cc knows, each in a file of its name.
#pragma once

#include "cli/command.h"

namespace margin::cli {

Command add_config(CLI::App& root);
Command add_keys(CLI::App& root);
Command add_state(CLI::App& root);
Command add_decide(CLI::App& root);
Command add_feedback(CLI::App& root);

}  // namespace margin::cli
