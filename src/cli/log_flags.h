// The flags that choose a log and rows of it; shared by every command that reads logs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "dataset/reader.h"
#include "experiment/stream.h"
#include "margin/result.h"

namespace margin::cli {

// As typed.
struct LogFlags {
  std::vector<std::string> models;
  std::vector<std::string> channels;
  double scale = 1.0;
  std::string kind = "exact";
  std::string malformed = "keep";
  std::string input = "auto";

  void add_to(CLI::App& app);
  [[nodiscard]] dataset::ReadOptions read_options() const;
};

// FILE[:PHASE]; a file whose name has a colon is taken as it is.
struct LogPlace {
  std::string file;
  std::vector<std::string> phases;  // empty: all
};
[[nodiscard]] LogPlace parse_place(const std::string& typed);

// --models a,b or @FILE with a name per line. kNotFound, kInvalidArgument.
[[nodiscard]] Result<std::vector<std::string>> model_names(const std::vector<std::string>& typed);

// What the flags say of rows, for make_streams; phases are the caller's. kInvalidArgument: a bad flag.
[[nodiscard]] Result<experiment::RowSelection> row_selection(const LogFlags& flags, std::vector<std::string> phases);

}  // namespace margin::cli
