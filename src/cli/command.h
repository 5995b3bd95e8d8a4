// What a subcommand of the `margin` binary is. A new one is a file that defines add_NAME() and a line in main.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "margin/result.h"

namespace margin::cli {

// Exit codes: 0 is done.
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;

struct Command {
  CLI::App* app = nullptr;   // its flags
  std::function<int()> run;  // called when the command was chosen and its flags were understood; returns the exit code
};

Command add_doctor(CLI::App& root);
Command add_replay(CLI::App& root);
Command add_simulate(CLI::App& root);
Command add_methods(CLI::App& root);
Command add_experiment(CLI::App& root);
Command add_serve(CLI::App& root);
Command add_version(CLI::App& root);

// Complains about what `app` was given and did not understand, with a suggestion; nullopt when there is nothing.
std::optional<int> refuse_unknown(const CLI::App& app);

// A flag with one value each time it is given; without this a list would swallow the files that follow it.
inline CLI::Option* repeatable(CLI::Option* option) { return option->take_all()->expected(1)->allow_extra_args(false); }

// A check for whole numbers, "" when it holds: CLI11 would let a negative one wrap around to a huge one.
std::string not_negative(const std::string& text);

// Prints "margin: MESSAGE" on the error output and returns `exit_code`.
int complain(std::string_view message, int exit_code = kBadInput);

// Prints the whole result of a command; kFailed when the standard output does not take it.
int print(std::string_view text);

}  // namespace margin::cli
