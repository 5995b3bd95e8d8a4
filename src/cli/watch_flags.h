// The flag of the commands that watch.
#pragma once

#include <CLI/CLI.hpp>

#include "margin/watch.h"

namespace margin::cli {

inline void add_watch_flags(CLI::App& app, WatchOptions& options) {
  app.add_option("--false-reports", options.false_reports_per_task, "Expected per task and kind at most, in [1e-12, 0.1]")
      ->check(CLI::Range(1e-12, 0.1))
      ->type_name("RATE")
      ->capture_default_str();
}

}  // namespace margin::cli
