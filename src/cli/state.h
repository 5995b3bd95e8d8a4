// The commands of `margin state`, each looking after a store or after states as files.
#pragma once

#include <memory>
#include <string>

#include "cli/command.h"
#include "log/sqlite_log.h"
#include "margin/pool.h"
#include "margin/result.h"

namespace margin::cli {

Command add_state_show(CLI::App& state);
Command add_state_verify(CLI::App& state);
Command add_state_export(CLI::App& state);
Command add_state_import(CLI::App& state);
Command add_state_merge(CLI::App& state);
Command add_state_diff(CLI::App& state);
Command add_state_backup(CLI::App& state);
Command add_state_restore(CLI::App& state);
Command add_state_compact(CLI::App& state);
Command add_state_erase(CLI::App& state);

// A path as a message names it.
std::string named(const std::string& path);

// Opens a store that is there, to change it; SqliteLog::open would make one of a slip in its name.
Result<std::unique_ptr<SqliteLog>> open_existing(const std::string& store);

// What was asked for and is not there or not legal is bad input; a store that is damaged, taken or failing is a failure.
int refuse(const Error& error);

}  // namespace margin::cli
