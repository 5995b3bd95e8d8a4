// `margin experiment paper`: its flags, and the way to the report.
#include <memory>

#include "cli/condition_flags.h"
#include "cli/experiment.h"
#include "cli/output_flags.h"
#include "experiment/paper_report.h"

namespace margin::cli {
namespace {

constexpr const char* kExperimentPaperFooter =
    "Runs every published experiment on the simulated cohort `paper`, which is synthetic, with the preset paper (margin: "
    "target=pool_band,\n"
    "boundary restart), and prints each table beside the published one, with the difference. docs/paper.md says what the tables are.\n\n"
    "Examples:\n"
    "  margin experiment paper\n"
    "  margin experiment paper --orderings 100 --resamples 10000 --report out   (as published)\n"
    "  margin experiment paper --format csv > tables.csv";

struct PaperFlags {
  RunFlags run{.orderings = 50, .resamples = 2000};
  OutputFlags output;
};

int run(const PaperFlags& flags) {
  const experiment::PaperOptions options{
      .orderings = flags.run.orderings, .resamples = flags.run.resamples, .seed = flags.run.seed, .threads = {flags.run.threads}};
  std::optional<experiment::PaperResults> results;
  {
    experiment::Progress progress;
    const ProgressBar bar("paper", progress);
    results = experiment::run_paper(options, progress);
  }
  if (!results) return complain("stopped", kInterrupted);
  return deliver(experiment::paper_report(*results, options), flags.output);
}

}  // namespace

Command add_paper_experiment(CLI::App& experiment) {
  CLI::App* app = experiment.add_subcommand("paper", "Every published table beside the same on a simulated cohort");
  auto flags = std::make_shared<PaperFlags>();
  app->footer(kExperimentPaperFooter);
  flags->run.add_to(*app);
  flags->run.add_resamples_to(*app);
  flags->output.add_to(*app);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace margin::cli
