// The flags that say which outcomes a pass learns, and when.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

#include "experiment/replay.h"

namespace margin::cli {

struct OutcomeFlags {
  std::size_t lag = 0;
  std::string feedback = "full";

  void add_to(CLI::App& app);
  [[nodiscard]] experiment::PassOptions pass() const {
    return {.lag = lag, .feedback = feedback == "selected" ? experiment::Feedback::kSelected : experiment::Feedback::kFull};
  }
};

}  // namespace margin::cli
