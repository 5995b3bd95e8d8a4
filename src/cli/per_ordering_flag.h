// --per-ordering FILE: the scores of every ordering, for those who analyse further.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "experiment/per_ordering.h"
#include "margin/result.h"

namespace margin::cli {

struct PerOrderingFlag {
  std::string file;  // empty: not asked for

  void add_to(CLI::App& app);
  // Writes the file when asked to: CSV when its name ends in .csv, else JSON lines. Errors as report::write_file.
  [[nodiscard]] Status write(std::span<const experiment::OrderingScores> all) const;
  // Of an experiment's results, one per condition.
  template <class Results>
  [[nodiscard]] Status write_results(const Results& results) const {
    std::vector<experiment::OrderingScores> all;
    for (const auto& result : results) append_orderings(all, result);
    return write(all);
  }
};

}  // namespace margin::cli
