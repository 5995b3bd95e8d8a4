// The flags that choose methods, a vote and their parameters; shared by every command that replays.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "margin/calibrator.h"
#include "margin/result.h"
#include "margin/vote.h"

namespace margin::cli {

// As typed.
struct MethodFlags {
  std::vector<std::string> methods = {"raw", "margin", "margin_adaptive"};
  std::string vote = "sum";
  std::map<std::string, std::string> shared;  // parameter name to text: --alpha and its like
  std::vector<std::string> set;               // OWNER.name=value

  void add_to(CLI::App& app);
};

// As meant.
struct Methods {
  std::vector<std::unique_ptr<Calibrator>> calibrators;  // fresh, in the order asked for
  std::vector<std::string> labels;                       // of the calibrators, as typed: "margin", "margin:target=pool_band"
  std::unique_ptr<Vote> vote;
};

// kNotFound: an unknown method, vote or owner; kInvalidArgument: a bad or unknown parameter, or one that nothing selected has.
[[nodiscard]] Result<Methods> make_methods(const MethodFlags& flags);

}  // namespace margin::cli
