// The flags that replay and the experiments on streams of one log share, and what they mean: rows, methods ready to run, options of the
// passes.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/log_flags.h"
#include "cli/method_flags.h"
#include "cli/outcome_flags.h"
#include "cli/output_flags.h"
#include "dataset/observation_log.h"
#include "experiment/passes.h"
#include "experiment/passes_report.h"
#include "experiment/shift.h"
#include "margin/result.h"

namespace margin::cli {

// As typed.
struct StreamFlags {
  std::vector<std::string> files;
  std::vector<std::string> phases;
  MethodFlags methods;
  LogFlags log;
  OutputFlags output;
  std::string fit;
  std::uint32_t orderings = 100;
  std::size_t resamples = 10'000;
  std::uint64_t seed = 1;
  OutcomeFlags outcomes;
  unsigned threads = 0;
  bool raw_first = true;  // what the others are compared with, asked for or not

  void add_to(CLI::App& app);
  // For experiments with intervals.
  void add_resamples_to(CLI::App& app);
};

// --subset NAME=@FILE or NAME=a,b; repeatable.
struct SubsetFlags {
  std::vector<std::string> typed;

  void add_to(CLI::App& app);
  // kInvalidArgument: not of that form, or a name twice; kNotFound: the file cannot be opened.
  [[nodiscard]] Result<std::vector<experiment::ModelSubset>> subsets() const;
};

// As meant.
struct StreamInput {
  dataset::ObservationLog log;
  experiment::RowSelection selection;
  Methods methods;
  std::vector<experiment::Stream> fits;  // by channel; empty without --fit
  experiment::PassesSetting setting;

  // Fresh or, where they are fitted once, fitted for the models of `stream`. kInvalidArgument: --fit has nothing for them.
  [[nodiscard]] Result<std::vector<experiment::Entrant>> entrants(const experiment::Stream& stream) const;
};
[[nodiscard]] Result<StreamInput> read_input(const StreamFlags& flags);

// kInvalidArgument when no response of the stream has an answer, so that nothing can be selected.
[[nodiscard]] Status require_answers(const experiment::Stream& stream);

}  // namespace margin::cli
