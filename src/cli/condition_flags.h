// The flags of experiments over conditions: which logs are source and target, what happens between them, how much is computed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/log_flags.h"
#include "cli/method_flags.h"
#include "cli/progress.h"
#include "experiment/shift.h"
#include "margin/result.h"

namespace margin::cli {

// As typed: one pair, or a grid file, or all pairs of a log's phases.
struct ConditionFlags {
  std::string source, target, grid, all_pairs;

  void add_to(CLI::App& app);
};
inline constexpr const char* kGridFooter =
    "A grid file has a line per condition: SOURCE TARGET [NAME], each a FILE[:PHASE]; # begins a comment.";

// kInvalidArgument: not exactly one of the three ways, or a bad grid; else what reading logs says.
[[nodiscard]] Result<std::vector<experiment::Condition>> read_conditions(const ConditionFlags& flags, const LogFlags& log_flags);
// FILE[:PHASE] as one stream. kInvalidArgument: the log has several channels and none is chosen.
[[nodiscard]] Result<experiment::Stream> read_stream(const std::string& place, const LogFlags& log_flags);

struct BoundaryFlag {
  std::string boundary = "told";

  void add_to(CLI::App& app);
  [[nodiscard]] Result<experiment::Boundary> parse() const;
};

struct RunFlags {
  std::uint32_t orderings = 100;
  std::size_t resamples = 10'000;
  std::uint64_t seed = 1;
  unsigned threads = 0;

  void add_to(CLI::App& app);
  void add_resamples_to(CLI::App& app);
  [[nodiscard]] experiment::ShiftOptions options() const {
    return {.orderings = orderings, .seed = seed, .resamples = resamples, .threads = {threads}};
  }
};

// --pools 1,2,all and --subsets: the conditions with some of their models alone.
struct PoolSizeFlags {
  std::vector<std::string> pools;
  std::size_t subsets = 20;

  void add_to(CLI::App& app);
  // All is 0. kInvalidArgument: neither a whole number from 1 nor all.
  [[nodiscard]] Result<std::vector<std::size_t>> sizes() const;
};

// The calibrators with their labels; `methods` keeps its vote.
[[nodiscard]] inline std::vector<experiment::Entrant> take_entrants(Methods& methods) {
  std::vector<experiment::Entrant> entrants;
  for (std::size_t i = 0; i < methods.labels.size(); ++i) entrants.push_back({methods.labels[i], std::move(methods.calibrators[i])});
  return entrants;
}

// run(condition, progress) for each condition, under a progress bar; it returns an optional, empty when stopped, and so does this.
template <class Run>
[[nodiscard]] auto for_conditions(const char* name, const std::vector<experiment::Condition>& conditions, std::size_t work_each,
                                  const Run& run) {
  using Result = typename decltype(run(conditions.front(), nullptr))::value_type;
  std::vector<Result> results;
  experiment::Progress progress;
  progress.total = conditions.size() * work_each;
  const ProgressBar bar(name, progress);
  for (const experiment::Condition& condition : conditions) {
    auto result = run(condition, &progress);
    if (!result) return std::optional<std::vector<Result>>{};
    results.push_back(std::move(*result));
  }
  return std::optional(std::move(results));
}

}  // namespace margin::cli
