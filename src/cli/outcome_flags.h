// The flags that say which outcomes a pass learns, when, and what is made of those that never come.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "experiment/replay.h"
#include "margin/result.h"

namespace margin::cli {

struct OutcomeFlags {
  std::size_t lag = 0;
  std::string feedback = "full";
  std::string remedy = "none";
  double audit = 0.0;

  void add_to(CLI::App& app);
  // kInvalidArgument: a remedy or audits although every outcome arrives, or a remedy that needs audits without any.
  [[nodiscard]] Result<experiment::PassOptions> pass() const;
};

// The names of the remedies, for checks of what was typed.
[[nodiscard]] std::vector<std::string> remedy_names();
// Of one of those names.
[[nodiscard]] RemedyKind remedy_kind(const std::string& name);

}  // namespace margin::cli
