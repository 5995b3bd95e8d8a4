// `margin state`: a server's store and the states in it, looked at, moved and kept in order.
#include "cli/state.h"

#include <filesystem>

#include "base/text.h"
#include "cli/group.h"
#include "cli/server_commands.h"

namespace margin::cli {

std::string named(const std::string& path) { return internal::printable(path, 400); }

Result<std::unique_ptr<SqliteLog>> open_existing(const std::string& store) {
  if (!std::filesystem::exists(store)) return {ErrorCode::kNotFound, named(store) + ": there is no such store"};
  // Looking changes nothing, also where it is no store.
  if (const auto log = SqliteLog::look(store); !log) return log.error();
  return SqliteLog::open(store);
}

int refuse(const Error& error) {
  const bool input = error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kNotFound || error.code == ErrorCode::kConflict;
  return complain(error.message, input ? kBadInput : kFailed);
}

Command add_state(CLI::App& root) {
  CLI::App* app = root.add_subcommand("state", "Look after a server's store: show, verify, back up, compact, erase, carry states");
  return group(app, "what to do",
               {add_state_show(*app), add_state_verify(*app), add_state_export(*app), add_state_import(*app), add_state_merge(*app),
                add_state_diff(*app), add_state_backup(*app), add_state_restore(*app), add_state_compact(*app), add_state_erase(*app)});
}

}  // namespace margin::cli
