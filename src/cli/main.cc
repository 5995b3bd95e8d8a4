// The `margin` binary: finds the subcommand and hands over. Flags and wiring only; what a command does is in its own file.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "cli/command.h"
#include "cli/server_commands.h"
#include "dataset/text.h"

namespace margin::cli {
namespace {

constexpr const char* kMainFooter =
    "Examples:\n"
    "  margin doctor log.jsonl                        would calibration and voting help on this log?\n"
    "  margin replay log.jsonl                        how well every response is calibrated, as if it were live\n"
    "  margin replay log.jsonl --method all --json    every method, for a program to read\n"
    "  margin simulate paper --out paper.jsonl        a synthetic log whose truth is known\n"
    "  margin experiment shift --all-pairs log.jsonl  what happens when the work changes?\n"
    "  margin serve                                   decisions and outcomes over HTTP, on a log that survives crashes\n"
    "  margin methods                                 calibrators and votes with their parameters\n"
    "  margin config check margin.toml                is this configuration right?\n"
    "Exit codes: 0 done, 1 failed, 2 bad input or usage.";

// The flags of a command as typed, for suggestions.
std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

int refuse_unknown_command(const std::vector<Command>& commands, const std::string& typed) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.app->get_name());
  return complain("unknown command " + dataset::printable(typed) + internal::suggestion(typed, names));
}

int run(int argc, char** argv) {
  CLI::App root{"Turns the confidence that language models state into a probability you can act on, learned from outcomes."};
  root.name("margin");
  root.footer(kMainFooter);
  bool version = false;
  root.add_flag("--version", version, "Print the version and exit");
  const std::vector<Command> commands = {add_serve(root),      add_decide(root),   add_feedback(root), add_config(root),
                                         add_keys(root),       add_state(root),    add_doctor(root),   add_replay(root),
                                         add_experiment(root), add_simulate(root), add_methods(root),  add_version(root)};
  // What is not understood is refused below, with a suggestion.
  root.allow_extras();
  for (const Command& command : commands) command.app->allow_extras();

  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    root.exit(help);
    return 0;
  } catch (const CLI::ParseError& error) {
    return complain(error.what());
  }

  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    if (const auto refused = refuse_unknown(*command.app)) return *refused;
    return command.run();
  }
  for (const std::string& typed : root.remaining()) {
    return typed.starts_with('-') ? *refuse_unknown(root) : refuse_unknown_command(commands, typed);
  }
  if (version) return commands.back().run();
  std::fputs(root.help().c_str(), stderr);
  return kBadInput;
}

}  // namespace

std::string not_negative(const std::string& text) {
  return text.starts_with('-') ? "got " + dataset::printable(text) + ", expected a whole number that is not negative" : "";
}

std::optional<int> refuse_unknown(const CLI::App& app) {
  const std::vector<std::string> typed = app.remaining();
  if (typed.empty()) return std::nullopt;
  if (!typed.front().starts_with('-')) {
    std::vector<std::string> names;
    for (const CLI::App* known : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(known->get_name());
    const std::string hint = names.empty() ? "" : internal::suggestion(typed.front(), names);
    return complain(app.get_name() + ": unexpected argument " + dataset::printable(typed.front()) + hint);
  }
  const std::string flag = typed.front().substr(0, typed.front().find('='));
  return complain(app.get_name() + ": unknown option " + dataset::printable(flag) + internal::suggestion(flag, flags_of(app)));
}

int complain(std::string_view message, int exit_code) {
  std::fprintf(stderr, "margin: %.*s\n", static_cast<int>(message.size()), message.data());
  return exit_code;
}

int print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? 0 : complain("the standard output does not take the result", kFailed);
}

}  // namespace margin::cli

int main(int argc, char** argv) {
  // Where the three were closed, files would get their numbers, and what is printed or logged would go into a store.
  int descriptor = -1;
  do descriptor = open("/dev/null", O_RDWR);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) close(descriptor);
  try {
    return margin::cli::run(argc, argv);
  } catch (const std::exception& error) {  // out of memory, mostly
    return margin::cli::complain(error.what(), margin::cli::kFailed);
  }
}
