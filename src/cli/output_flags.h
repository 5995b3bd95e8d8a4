// How a report leaves the program: tables in some format on the standard output, or one HTML file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "report/html.h"

namespace margin::cli {

struct OutputFlags {
  std::string format = "text";
  bool json = false;
  std::string directory;  // of the HTML report; empty: none

  void add_to(CLI::App& app);
};

// Prints the tables, and writes the HTML file when asked. Where JSON is asked for and `json` is not empty, prints that instead of the
// tables. Returns the exit code.
int deliver(const report::Report& report, const OutputFlags& flags, const std::string& json = "");

}  // namespace margin::cli
