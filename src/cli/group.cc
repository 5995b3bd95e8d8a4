#include "cli/group.h"

#include <utility>

#include "base/suggest.h"

namespace margin::cli {

Command group(CLI::App* app, std::string what, std::vector<Command> commands) {
  for (const Command& command : commands) command.app->allow_extras();
  return {app, [app, what = std::move(what), commands = std::move(commands)] {
            std::vector<std::string> names;
            for (const Command& command : commands) {
              if (command.app->parsed()) {
                if (const auto refused = refuse_unknown(*command.app)) return *refused;
                return command.run();
              }
              names.push_back(command.app->get_name());
            }
            return complain(app->get_name() + ": expected " + what + internal::suggestion("", names));
          }};
}

}  // namespace margin::cli
