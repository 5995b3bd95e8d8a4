// `margin experiment convergence`: its flags, and the way from a log to the report.
#include <memory>

#include "cli/experiment.h"
#include "cli/progress.h"
#include "cli/stream_flags.h"
#include "experiment/convergence_report.h"

namespace margin::cli {
namespace {

using experiment::Stream;

constexpr const char* kExperimentConvergenceFooter =
    "How soon a method pays: pass@1 over the first tasks of an ordering, for raw and every method, mean over orderings.\n\n"
    "Examples:\n"
    "  margin experiment convergence log.jsonl --phase hard --report out\n"
    "  margin experiment convergence log.jsonl --checkpoints 5,20,80 --method margin --orderings 500";

struct ConvergenceFlags {
  StreamFlags common;
  std::vector<std::size_t> checkpoints = {10, 30, 50, 100, 150};
};

int run(const ConvergenceFlags& flags) {
  const Result<StreamInput> input = read_input(flags.common);
  if (!input) return complain(input.error().message);
  const Result<std::vector<Stream>> streams = experiment::make_streams(input->log, input->selection);
  if (!streams) return complain(streams.error().message);
  std::vector<std::vector<experiment::Entrant>> entrants;
  for (const Stream& stream : *streams) {
    if (const Status status = require_answers(stream); !status) return complain(status.error().message);
    Result<std::vector<experiment::Entrant>> of_stream = input->entrants(stream);
    if (!of_stream) return complain(of_stream.error().message);
    entrants.push_back(std::move(*of_stream));
  }

  const experiment::PassesOptions& options = input->setting.options;
  std::vector<experiment::ConvergenceResult> results;
  {
    experiment::Progress progress;
    progress.total = streams->size() * experiment::pieces_of({.passes = input->methods.labels.size()}, options);
    const ProgressBar bar("convergence", progress);
    for (std::size_t i = 0; i < streams->size(); ++i) {
      auto result = experiment::run_convergence((*streams)[i], entrants[i], *input->methods.vote, flags.checkpoints, options, &progress);
      if (!result) break;
      results.push_back(std::move(*result));
    }
  }
  if (results.size() < streams->size()) return complain("stopped", kInterrupted);
  return deliver(experiment::convergence_report(results, input->setting), flags.common.output);
}

}  // namespace

Command add_convergence_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("convergence", "How soon a method pays: cumulative pass@1 after the first tasks");
  auto flags = std::make_shared<ConvergenceFlags>();
  app->footer(kExperimentConvergenceFooter);
  flags->common.add_to(*app);
  repeatable(
      app->add_option("--checkpoints", flags->checkpoints, "After how many tasks; all of them is always the last [10,30,50,100,150]"))
      ->delimiter(',')
      ->check(CLI::Range(1, 1000000000))
      ->type_name("N,...");
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
