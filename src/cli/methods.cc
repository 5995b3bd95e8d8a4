// `margin methods`: what can be named after --method and --vote, and every parameter that --set reaches.
#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/command.h"
#include "margin/calibrator.h"
#include "margin/vote.h"
#include "report/table.h"

namespace margin::cli {
namespace {

std::string range_of(const ParameterSpec& spec) {
  if (spec.kind == ParameterSpec::Kind::kChoice) return fmt::format("{}", fmt::join(spec.choices, "|"));
  std::string range = fmt::format("{}{}, {}]", spec.open_low ? '(' : '[', to_text(spec.low), to_text(spec.high));
  switch (spec.kind) {
    case ParameterSpec::Kind::kInteger: return "whole, " + range;
    case ParameterSpec::Kind::kList: return fmt::format("up to {} of {}", spec.length_max, range);
    default: return range;
  }
}

std::string describe(const std::vector<ParameterSpec>& parameters) {
  if (parameters.empty()) return "";
  report::Table table{.columns = {{.name = "parameter"}, {.name = "default"}, {.name = "range"}, {.name = "meaning"}}};
  for (const ParameterSpec& spec : parameters) table.rows.push_back({spec.name, to_text(spec.fallback), range_of(spec), spec.meaning});
  std::string indented;
  std::istringstream lines(report::to_text(table, {.text_columns_max = 200}));
  for (std::string line; std::getline(lines, line);) indented += "    " + line + "\n";
  return indented;
}

int run() {
  std::string out = "Calibrators (--method):\n";
  for (const CalibratorInfo* info : calibrator_catalog()) {
    out += fmt::format("\n  {} (version {}{}): {}\n", info->identifier, info->version, info->design_time ? ", fitted with --fit" : "",
                       info->summary);
    out += describe(info->parameters);
  }
  out += "\nVotes (--vote):\n";
  for (const VoteInfo* info : vote_catalog()) {
    out += fmt::format("\n  {} (version {}{}): {}\n", info->identifier, info->version, info->learns ? ", learns" : "", info->summary);
    out += describe(info->parameters);
  }
  out += "\nReplaced versions, for what was stored with them (NAME@VERSION):\n\n";
  const auto replaced = [&](const auto& catalog) {
    for (const auto* info : catalog) out += fmt::format("  {}@{}: {}\n", info->identifier, info->version, info->summary);
  };
  replaced(replaced_calibrators());
  replaced(replaced_votes());
  return print(out);
}

}  // namespace

Command add_methods(CLI::App& root) {
  CLI::App* app = root.add_subcommand("methods", "List calibrators and votes with their parameters, ranges and defaults");
  return {app, [] { return run(); }};
}

}  // namespace margin::cli
